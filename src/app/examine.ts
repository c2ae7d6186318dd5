import { constants, existsSync } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type ChatModel, parseConfig, type SkillEnv, SkillError } from '../core/contracts/index.ts';
import { type Budget, countMessages, createBudget, withBudget, withTimeout } from '../models/index.ts';
import {
  type Environment,
  isAgentSpec,
  isNoTarget,
  type LoadedProject,
  loadProject,
  type ModelRole,
  requireAgentTarget,
  resolveRole,
} from '../project/index.ts';
import { isMissing, JOURNAL_FILE, shownPath, unwritable } from '../stores/index.ts';
import { loadRunItems, priceFor, withEnv } from '../train/index.ts';
import { agentChecks, type Check, check, describeAgents } from './examine-agents.ts';
import { queueChecks } from './examine-queue.ts';
import { type Wiring, wireRun } from './wire-run.ts';

const OLDEST_NODE = [20, 19];
const CALL_TIMEOUT_MS = 30_000;

export type ExamineOptions = {
  readonly cwd: string;
  readonly env: Environment;
  readonly config?: string | undefined;
  /** `key=value` over the file. */
  readonly overrides?: readonly string[] | undefined;
  /** Whether the agent works twice to show that its loading of skills can be seen. */
  readonly hasCanary?: boolean | undefined;
  /** The address of a queue: its server and its workers are looked at too. */
  readonly queue?: string | undefined;
  /** Called with the project once it is read, also with its notes and warnings. */
  readonly onProject?: (loaded: LoadedProject) => void;
};

/** Checks each thing that a run of this project needs. Costs one tiny call per model, within the project's limits. */
export async function* examineProject(options: ExamineOptions): AsyncGenerator<Check> {
  const { cwd, env, config, overrides, hasCanary = false, queue, onProject } = options;
  yield await check('node', () => requireNode(process.versions.node));
  yield await check('agents', () => describeAgents(env, cwd));
  let loaded: LoadedProject | undefined;
  yield await check('project', async () => {
    const found = await loadProject({ flags: {}, config, overrides, cwd });
    await requireAgentTarget(found); // otherwise every later check would report the same
    loaded = found;
    return `read from ${found.directory}`;
  });
  if (!loaded) return;
  const project = loaded;
  onProject?.(project);
  let wiring: Wiring | undefined;
  let areTasksRead = false;
  yield await check('tasks', async () => {
    wiring = await wireRun(project);
    const counts = await describeTasks(wiring);
    areTasksRead = true;
    if (wiring.refusal) throw wiring.refusal;
    return [counts, ...wiring.warnings, ...(wiring.env.warnings ?? [])].join('\n');
  });
  if (wiring?.env.tryScoring && areTasksRead) {
    const { env: tasks, config: settings } = wiring;
    yield await check('scoring', () => withEnv(tasks, parseConfig(settings), () => tryScoring(tasks)));
  }
  const { target, judge, outRoot = join(project.directory, 'runs') } = project.project;
  yield await check('runs', () => requireRunPlace(wiring?.path ?? outRoot, cwd));
  if (queue !== undefined) yield* queueChecks(project, wiring, { env, queue });
  if (isAgentSpec(target)) yield* agentChecks(project, env, hasCanary);
  else if (isNoTarget(target)) yield await check('target', () => 'none: the environment asks no model');
  const budget = createBudget(project.project);
  const isJudged = judge !== undefined || (wiring?.env.judgeCalls ?? 0) > 0;
  const roles: ModelRole[] = [...(isNoTarget(target) ? [] : ['target' as const]), 'optimizer'];
  for (const role of isJudged ? [...roles, 'judge' as const] : roles)
    yield await check(role, () => tryModel(project, role, env, budget));
}

async function tryScoring(env: SkillEnv): Promise<string> {
  const { detail, passesAll } = await env.tryScoring!();
  if (!passesAll) return detail;
  const hint = 'A verifier must tell work that is done from work that is not: let it look for what the task asks for.';
  throw new SkillError('ENV_FAILED', detail, { hint });
}

function requireNode(version: string): string {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = OLDEST_NODE;
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return version;
  const oldest = `${OLDEST_NODE.join('.')} or newer`;
  throw new SkillError('USAGE', `${version}, but ${oldest} is needed`, { hint: `Install Node ${oldest}.` });
}

async function describeTasks({ env, config: input }: Wiring): Promise<string> {
  const config = parseConfig(input);
  const { train, val, test, spare = [] } = await withEnv(env, config, () => loadRunItems(env, config));
  const ofAll = spare.length > 0 ? ` of ${val.length + spare.length}` : '';
  return `${train.length} to train on, ${val.length}${ofAll} to select by, ${test.length} to test with (${env.name})`;
}

/** A key may be refused, and a model may not exist: only a call shows that. */
async function tryModel(loaded: LoadedProject, role: ModelRole, env: Environment, budget: Budget): Promise<string> {
  const model = await resolveRole(loaded, role, { env });
  const options = { price: priceFor(model, loaded.project.prices), countTokens: countMessages };
  const startedAt = performance.now();
  await askForOneWord(withBudget(model, budget, options));
  return `${model.id} answered in ${Math.round(performance.now() - startedAt)} ms`;
}

/** One tiny call, with room for a model that thinks before it answers. */
export async function askForOneWord(model: ChatModel): Promise<void> {
  const messages = [{ role: 'user' as const, content: 'Answer with the word ok.' }];
  await withTimeout(model, CALL_TIMEOUT_MS).complete({ messages, maxOutputTokens: 1024, stage: 'doctor' });
}

/** Throws unless a run can be written at a path. Writes nothing: it looks at the run, or at the folder where it would be created. */
async function requireRunPlace(path: string, cwd: string): Promise<string> {
  let place = path;
  while (!existsSync(place) && dirname(place) !== place) place = dirname(place);
  try {
    if (!(await stat(place)).isDirectory()) throw new Error(`${shownPath(place, cwd)} is a file, and no folder`);
    await access(place, constants.W_OK | constants.X_OK);
    await access(join(path, JOURNAL_FILE), constants.W_OK).catch((error) => {
      if (!isMissing(error)) throw error;
    });
  } catch (error) {
    throw unwritable(path, error);
  }
  return `${shownPath(path, cwd)} can be written`;
}
