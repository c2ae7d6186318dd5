import { appendFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ModelCallError, SkillError } from '../../core/contracts/index.ts';
import { oneLine, plural } from '../../core/text/index.ts';
import { resolveModel } from '../../project/index.ts';
import {
  canMine,
  chooseModels,
  type GatherEvent,
  type Harvest,
  harvestNew,
  heuristicTask,
  IGNORE_FILE,
  type MineResult,
  mineHarvest,
  type OpenSleep,
  openMiner,
  recipientsOf,
} from '../../sleep/index.ts';
import { openStateFolder } from '../../stores/index.ts';
import { type NightConsent, requireConsent } from './run-night.ts';

type HarvestOptions = {
  readonly since?: string | undefined;
  /** Lets the optimizer find the tasks. Otherwise rules do, and no model is asked. */
  readonly isByModel?: boolean | undefined;
  readonly consent?: NightConsent | undefined;
  readonly onGather?: ((event: GatherEvent) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
};

export type HarvestedTasks = { readonly harvest: Harvest; readonly mined: MineResult };

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
  const model = await resolveModel(optimizer, { role: 'optimizer', env: callerEnv, directory: project, notices }); // before asking for consent
  await requireConsent(sleep, recipientsOf({ optimizer }, place.env), consent);
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
