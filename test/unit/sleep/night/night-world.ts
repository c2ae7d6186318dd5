import { mkdirSync, readdirSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { scripted } from 'skillopt/testing';
import {
  type CycleInput,
  chooseSkills,
  findMemory,
  findSkill,
  type GatheredNight,
  nightFolder,
  readSleepState,
  SleepSettings,
  type TaskRecord,
} from '../../../../src/sleep/index.ts';
import { redactor } from '../../../../src/transcripts/index.ts';
import { appends } from '../../../support/scripted-run.ts';
import { sleepTask } from '../../../support/sleep/sleep-tasks.ts';
import { tempFolder } from '../../../support/temp-folder.ts';

/** The rule that helps: with it in a document, every answer is right. */
export const RULE = '- End every answer with DONE.';
export const USELESS = '- Be careful with every detail.';

/** Nights of one document take half the time. */
export const SKILL_ONLY = SleepSettings.parse({ evolveMemory: false });

const SIZES = { train: 4, val: 8, test: 0 };

/** Tasks that are right when the answer says DONE. */
export function doneTasks(prefix = 't', sizes: Partial<typeof SIZES> = {}): TaskRecord[] {
  return Object.entries({ ...SIZES, ...sizes }).flatMap(([split, count]) =>
    Array.from({ length: count }, (_, at) =>
      sleepTask(`${prefix}-${split}-${at}`, {
        split: split as TaskRecord['split'],
        referenceKind: 'rule',
        judge: { checks: [{ op: 'contains', arg: 'DONE' }] },
        sourceSessions: [`s-${prefix}-${at}`],
      }),
    ),
  );
}

export const CURSORS = { claude: { from: '2026-03-09T00:00:00.000Z', considered: [] } };

export const gathered = (tasks: readonly TaskRecord[], fields: Partial<GatheredNight> = {}): GatheredNight => ({
  nSessions: 6,
  recurring: [{ intent: 'a message for the team', sessions: 3, days: 2 }],
  notReplayable: 0,
  pooled: 0,
  tasks: [...tasks],
  cursors: CURSORS,
  notes: [],
  ...fields,
});

/** An agent that does what its documents say. */
export const obedient = () =>
  scripted('agent', ({ messages }) => (messages[0]!.content.includes(RULE.slice(2)) ? 'As asked. DONE' : 'As asked.'));

/** An analyst that always proposes the same lines, and keeps all that is merged or ranked. */
export const proposing = (...lines: readonly string[]) =>
  scripted('analyst', ({ stage }) =>
    JSON.stringify(stage === 'ranking' ? { selected_indices: [0, 1, 2, 3] } : analysed(lines)),
  );

const analysed = (lines: readonly string[]) => ({ ...appends(...lines), ...appends(...lines).patch });

type Wanted = Partial<CycleInput> & { readonly tasks?: readonly TaskRecord[] };

/** A person's home with a project and a state folder, and nights in it. Gone after the test. */
export function nightWorld(files: Readonly<Record<string, string>> = {}) {
  const temp = tempFolder();
  const home = realpathSync(temp.path);
  const [project, folder] = [join(home, 'shop'), join(home, 'state')];
  mkdirSync(project);
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(home, name)), { recursive: true });
    writeFileSync(join(home, name), text);
  };
  for (const [name, text] of Object.entries(files)) write(name, text);
  const place = { env: {}, home, platform: 'linux' as const };
  /** What a night of Claude Code's documents is given. */
  async function input({ tasks = doneTasks(), ...wanted }: Wanted = {}): Promise<CycleInput> {
    const settings = wanted.settings ?? SleepSettings.parse({});
    const search = { agent: 'claude', place, project, settings };
    const skill = await findSkill(search);
    return {
      ...{ folder, project, agent: 'claude', settings, modelKey: 'agent · analyst' },
      models: { target: obedient(), optimizer: proposing(RULE) },
      documents: [skill, await findMemory(search)],
      chooseSkills: (all) => chooseSkills(all, search, skill),
      gather: async () => gathered(tasks),
      now: () => new Date('2026-03-10T02:00:00.000Z'),
      redact: redactor(place),
      config: { workers: 4, maxRetries: 0 },
      ...wanted,
    };
  }
  return {
    ...{ home, project, folder, place, input, write },
    state: () => readSleepState(folder),
    night: (name: number | string) => nightFolder(folder, project, name),
    read: (path: string) => readFileSync(path, 'utf8'),
    json: (path: string) => JSON.parse(readFileSync(path, 'utf8')),
    mode: (path: string) => (statSync(path).mode & 0o777).toString(8),
    [Symbol.dispose]: () => temp[Symbol.dispose](),
  };
}

/** Every file below a folder with its bytes, by its path there. */
export function filesBelow(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) => join(parentPath, name));
  return Object.fromEntries(paths.map((path) => [path.slice(folder.length + 1), readFileSync(path, 'latin1')]));
}
