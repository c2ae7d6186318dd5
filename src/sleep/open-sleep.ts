import { stat } from 'node:fs/promises';
import { type Notices, resolvePath } from '../project/index.ts';
import { openStateFolder, stateFolderOf } from '../stores/index.ts';
import { chooseSources, type Place, redactor, type TranscriptSource } from '../transcripts/index.ts';
import { type Ignored, loadIgnore, type Scope } from './harvest/scope.ts';
import { openSessionIndex, type SessionIndex } from './harvest/session-index.ts';
import { type LoadedSettings, loadSleepSettings } from './settings/load-settings.ts';
import { type SleepSettings, withHomes } from './settings/sleep-settings.ts';
import { placeOfProcess } from './state/folders.ts';

export type SleepOptions = {
  /** Learn from sessions in this folder. Default: the current folder. */
  readonly project?: string | undefined;
  /** Settings over those of the project file and of the state folder. */
  readonly settings?: Readonly<Record<string, unknown>> | undefined;
  /** A project file with a section `sleep`. Default: the one in the project. */
  readonly configFile?: string | undefined;
  /** Variables, home and platform. Default: those of this process. */
  readonly place?: Place | undefined;
  /** The private folder of nights, tasks and proposals. Default: by the place. */
  readonly stateFolder?: string | undefined;
  readonly notices?: Notices | undefined;
  /** Whether nobody has called for this project by typing a command: then nothing of the project is run. */
  readonly isDataOnly?: boolean | undefined;
};

/** What every act of sleep works with. Dispose of it when you are done: it holds the session index open. */
export type OpenSleep = Disposable & {
  readonly place: Place;
  readonly callerEnv: Place['env'];
  readonly folder: string;
  /** The project's folder, whatever the scope is. */
  readonly project: string;
  readonly scope: Scope;
  readonly settings: SleepSettings;
  readonly origins: LoadedSettings['origins'];
  readonly sources: readonly TranscriptSource[];
  readonly index: SessionIndex;
  readonly isIgnored: Ignored;
  readonly redact: (text: string) => string;
  readonly notices: Notices;
  readonly configFile: string | undefined;
  readonly isDataOnly: boolean;
};

const SILENT: Notices = { note: () => undefined, warn: () => undefined };

export async function openSleep(options: SleepOptions = {}): Promise<OpenSleep> {
  const {
    place: here = placeOfProcess(),
    notices = SILENT,
    settings: flags,
    configFile: config,
    isDataOnly = false,
  } = options;
  const folder = await openStateFolder(options.stateFolder ?? stateFolderOf(here));
  const project = resolvePath(process.cwd(), options.project ?? '.');
  await warnUnlessFolder(project, notices);
  const loaded = await loadSleepSettings({ place: here, stateFolder: folder, project, config, flags, isDataOnly });
  const { settings, origins, imported } = loaded;
  if (imported && imported.notTaken.length > 0) {
    const keys = imported.notTaken.map(({ key, why }) => `${key} (${why})`);
    notices.note(`these keys of ${imported.file} have no effect here: ${keys.join('; ')}`);
  }
  const place = withHomes(here, settings.homes);
  const sources = await chooseSources([settings.source].flat(), place);
  const isIgnored = await loadIgnore({ place, stateFolder: folder, onWarning: notices.warn });
  const index = await openSessionIndex(folder, { onWarning: notices.warn });
  return {
    ...{ place, folder, project, settings, origins, sources, index, isIgnored, notices },
    ...{ configFile: config, callerEnv: here.env, isDataOnly },
    scope: settings.projects === 'invoked' ? [project] : settings.projects,
    redact: redactor(place),
    [Symbol.dispose]: () => index[Symbol.dispose](),
  };
}

/** A project that was deleted can still have sessions. */
async function warnUnlessFolder(project: string, { warn }: Notices): Promise<void> {
  const found = await stat(project).catch(() => undefined);
  if (found?.isDirectory()) return;
  warn(`${project} ${found ? 'is not a folder' : 'does not exist'}; only sessions that name it are found`);
}
