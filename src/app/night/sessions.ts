import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ModelCallError, SkillError } from '../../core/contracts/index.ts';
import { oneLine, plural } from '../../core/text/index.ts';
import { resolveModel } from '../../project/index.ts';
import {
  canMine,
  chooseModels,
  type FileTrouble,
  folderOf,
  type GatherEvent,
  type Harvest,
  harvestNew,
  heuristicTask,
  IGNORE_FILE,
  lookbackFloor,
  type MineResult,
  mineHarvest,
  type OpenSleep,
  type Overview,
  openMiner,
  overview,
  readInstant,
  recipientsOf,
  rolesOfProject,
  type SessionHead,
  scopeTest,
  timeOf,
  updateIndex,
} from '../../sleep/index.ts';
import { openStateFolder } from '../../stores/index.ts';
import { transcriptSources } from '../../transcripts/index.ts';
import { type NightConsent, requireConsent } from './run-night.ts';

/** Why sessions that exist are not part of a survey. */
export type NotSurveyed = 'other-agent' | 'other-project' | 'too-old' | 'ignored';

export type SessionSurvey = {
  readonly overview: Overview;
  readonly trouble: readonly FileTrouble[];
  readonly filesRead: number;
  readonly notSurveyed: readonly (readonly [NotSurveyed, number])[];
  /** Folders that were looked at. */
  readonly lookedAt: readonly string[];
  /** Sessions of this project that could teach something. */
  readonly usableHere: number;
  /** Whether some of them, or else of all sessions, are young enough for the first night. */
  readonly isRecent: boolean;
};

type SurveyOptions = {
  readonly since?: string | undefined;
  readonly onGather?: ((event: GatherEvent) => void) | undefined;
  /** Only sessions of the project. Otherwise of all projects. */
  readonly isOfProject?: boolean | undefined;
};

/** What there is to learn from on this machine. Asks no model, and reads only files that have changed since the last time. */
export async function surveySessions(sleep: OpenSleep, options: SurveyOptions = {}): Promise<SessionSurvey> {
  const { index, sources, project, place, settings, isIgnored, redact } = sleep;
  const onProgress = (progress: { source: string; done: number; total: number }) =>
    options.onGather?.({ type: 'transcript-read', ...progress });
  const now = Date.now();
  const since = readInstant(options.since) ?? 0;
  const inScope = await scopeTest(options.isOfProject ? [project] : 'all', place);
  const isHere = await scopeTest([project], place);
  const names = new Set(sources.map(({ name }) => name));
  const whyNot = (head: SessionHead): NotSurveyed | undefined => {
    if (!names.has(head.source)) return 'other-agent';
    if (!inScope(folderOf(head))) return 'other-project';
    if (timeOf(head) < since) return 'too-old';
    return isIgnored(head) ? 'ignored' : undefined;
  };
  const { trouble, read } = await updateIndex({ ...sleep, now, onProgress });
  const heads = index.files().flatMap((file) => file.heads);
  const whyNots = new Map(heads.map((head) => [head, whyNot(head)]));
  const reasons = [...whyNots.values()].filter((why) => why !== undefined);
  const usable = heads.filter(
    (head) => whyNots.get(head) === undefined && head.leftOut === undefined && head.nUserTurns > 0,
  );
  const here = usable.filter((head) => isHere(folderOf(head)));
  const floor = lookbackFloor({ lookbackHours: settings.lookbackHours, now });
  return {
    ...{ trouble, filesRead: read, usableHere: here.length },
    overview: overview(index, { isIgnored: (head) => whyNots.get(head) !== undefined }),
    notSurveyed: [...new Set(reasons)].map((why) => [why, reasons.filter((one) => one === why).length] as const),
    lookedAt: (sources.length > 0 ? sources : transcriptSources).flatMap((one) => one.roots(place)).map(redact),
    isRecent: (here.length > 0 ? here : usable).some((head) => !(timeOf(head) < floor)),
  };
}

type HarvestOptions = {
  readonly since?: string | undefined;
  /** Lets the optimizer find the tasks. Otherwise rules do, and no model is asked. */
  readonly isByModel?: boolean | undefined;
  readonly consent?: NightConsent | undefined;
  readonly onGather?: ((event: GatherEvent) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
};

type HarvestedTasks = { readonly harvest: Harvest; readonly mined: MineResult };

/** The sessions that a night would consider, and the tasks in them. Moves no cursor. */
export async function harvestSessions(sleep: OpenSleep, options: HarvestOptions = {}): Promise<HarvestedTasks> {
  const harvest = await harvestNew(sleep, { ...options, now: Date.now() });
  if (options.isByModel && !sleep.settings.llmMine) {
    const message = 'expected llmMine to be on for tasks that a model finds, got llmMine: false';
    throw new SkillError('USAGE', message, { hint: 'Turn llmMine on, or let rules find the tasks.' });
  }
  const isByModel = options.isByModel && harvest.sessions.length > 0;
  const mined = isByModel ? await mineByModel(sleep, harvest, options) : await mineHarvest(sleep, harvest);
  return { harvest, mined };
}

async function mineByModel(sleep: OpenSleep, harvest: Harvest, options: HarvestOptions): Promise<MineResult> {
  const { settings, place, folder, project, callerEnv, notices, redact } = sleep;
  const { consent, signal, onGather } = options;
  const { optimizer } = await chooseModels(settings, sleep);
  if (!canMine(optimizer)) {
    const hint = 'Name a real optimizer, or let rules find the tasks.';
    const message = 'expected a model that finds tasks, got the simulated optimizer, which knows only its world';
    throw new SkillError('USAGE', message, { hint });
  }
  const model = await resolveModel(optimizer, {
    role: 'optimizer',
    env: callerEnv,
    directory: project,
    notices,
    isAddressOwn: true,
    isSpecOwn: !rolesOfProject(sleep).has('optimizer'),
  }); // before asking for consent
  await requireConsent(sleep, recipientsOf({ optimizer }, place.env, rolesOfProject(sleep)), consent);
  using open = await openMiner({ model, settings, folder, signal, redact });
  const mined = await mineHarvest(sleep, harvest, {
    ...{ miner: open.miner, signal },
    onProgress: (progress) => onGather?.({ type: 'session-mined', ...progress }),
  }).finally(() => onGather?.({ type: 'mining-end' }));
  const unreadable = mined.dropped.find(({ reason }) => reason === 'unreadable-reply')?.count ?? 0;
  if (unreadable < harvest.sessions.length) return mined;
  const sessions = plural(harvest.sessions.length, 'session');
  const message = `expected tasks as JSON from the miner, got no readable reply about any of ${sessions}`;
  throw new ModelCallError(message, { hint: 'Name another optimizer, or let rules find the tasks.' });
}

/** Adds sessions and tasks to the private `.skilloptignore`. Returns the file and the lines that are new in it. */
export async function ignoreSessions(stateFolder: string, ids: readonly string[]) {
  const path = join(await openStateFolder(stateFolder), IGNORE_FILE);
  const before = await readFile(path, 'utf8').catch(() => '');
  const known = new Set(before.split('\n'));
  const added = ids.flatMap(ignoreLines).filter((line) => !known.has(line));
  const start = before === '' || before.endsWith('\n') ? '' : '\n'; // a person may have written the last line
  if (added.length > 0) await appendFile(path, `${start}${added.join('\n')}\n`, { mode: 0o600 });
  return { path, added };
}

/** An id that looks like that of a task may also belong to a session, so it gets both lines. */
function ignoreLines(id: string): string[] {
  const line = oneLine(id);
  return isTaskId(line) ? [`task:${line}`, `session:${line}`] : [`session:${line}`];
}

export const isTaskId = (id: string) => /^(task|llm)_[0-9a-f]{12}$/.test(id);

/** Ids that name no session and no task, so that a typo is noticed. Ids of tasks that models find are not known here. */
export function unknownIds(ids: readonly string[], { index }: OpenSleep, { sessions }: Harvest): string[] {
  const heads = index.files().flatMap((file) => file.heads);
  const known = new Set([
    ...heads.map(({ sessionId }) => oneLine(sessionId)),
    ...sessions.flatMap((session) => heuristicTask(session)?.id ?? []),
  ]);
  return ids.map(oneLine).filter((id) => !known.has(id) && !id.startsWith('llm_'));
}
