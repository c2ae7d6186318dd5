import { join } from 'node:path';
import { type Wiring, wireRun } from '../../app/index.ts';
import { type ChatModel, parseConfig, type SkillEnv, SkillError } from '../../core/contracts/index.ts';
import { type Budget, countMessages, createBudget, withBudget, withTimeout } from '../../models/index.ts';
import {
  isAgentSpec,
  isNoTarget,
  type LoadedProject,
  loadProject,
  type ModelRole,
  requireAgentTarget,
  resolveRole,
} from '../../project/index.ts';
import { loadRunItems, priceFor, withEnv } from '../../train/index.ts';
import type { Io } from '../terminal/io.ts';
import { agentChecks } from './agent-checks.ts';
import { type Check, check } from './check.ts';
import { describeAgents } from './describe-agents.ts';
import { requireRunPlace } from './run-place.ts';

const OLDEST_NODE = [20, 19];
const CALL_TIMEOUT_MS = 30_000;

type Place = {
  readonly config?: string | undefined;
  /** `key=value` over the file. */
  readonly overrides?: readonly string[] | undefined;
  /** Whether an agent is to show that its loading of skills can be seen. */
  readonly hasCanary?: boolean | undefined;
  readonly io: Io;
  /** Told what the project file asks for and does not get, among other things. */
  readonly onProject?: (loaded: LoadedProject) => void;
};

/** Everything that a run of this project needs, each looked at by itself. Costs one tiny call per model, within the project's limits. */
export async function* examine({ config, overrides, hasCanary, io, onProject }: Place): AsyncGenerator<Check> {
  yield await check('node', () => requireNode(process.versions.node));
  yield await check('agents', () => describeAgents(io));
  let loaded: LoadedProject | undefined;
  yield await check('project', async () => {
    const found = await loadProject({ flags: {}, config, overrides, cwd: io.cwd() });
    await requireAgentTarget(found); // else every check after it would say the same
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
    const { warnings, env } = wiring;
    const counts = await describeTasks(wiring);
    areTasksRead = true;
    return [counts, ...warnings, ...(env.warnings ?? [])].join('\n');
  });
  if (wiring && areTasksRead) yield* scoringCheck(wiring);
  yield await check('runs', () => requireRunPlace(wiring?.path ?? runsOf(project), io.cwd()));
  yield* isAgentSpec(project.project.target)
    ? agentChecks(project, { env: io.env, hasCanary: hasCanary ?? false })
    : [];
  if (isNone(project)) yield await check('target', () => 'none: the environment asks no model');
  const budget = createBudget(project.project);
  for (const role of rolesOf(project, wiring?.env))
    yield await check(role, () => tryModel(project, role, { io, budget }));
}

/** What scores the tasks, tried where an environment can do that for nothing. */
async function* scoringCheck({ env, config }: Wiring): AsyncGenerator<Check> {
  if (env.tryScoring === undefined) return;
  yield await check('scoring', () => withEnv(env, parseConfig(config), async () => env.tryScoring!()));
}

const isNone = ({ project: { target } }: LoadedProject) => isNoTarget(target) && !isAgentSpec(target);

/** Only the judge may be missing, and only where nobody asks it. */
function rolesOf({ project }: LoadedProject, env: SkillEnv | undefined): ModelRole[] {
  const isJudged = project.judge !== undefined || (env?.judgeCalls ?? 0) > 0;
  const target = isNoTarget(project.target) ? [] : ['target' as const];
  return [...target, 'optimizer', ...(isJudged ? ['judge' as const] : [])];
}

const runsOf = ({ project, directory }: LoadedProject) => project.outRoot ?? join(directory, 'runs');

function requireNode(version: string): string {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = OLDEST_NODE;
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return version;
  const oldest = OLDEST_NODE.join('.');
  throw new SkillError('USAGE', `${version}, but ${oldest} or newer is needed`, {
    hint: `Install Node ${oldest} or newer.`,
  });
}

async function describeTasks({ env, config: input }: Wiring): Promise<string> {
  const config = parseConfig(input);
  const { train, val, test } = await withEnv(env, config, () => loadRunItems(env, config));
  return `${train.length} to train on, ${val.length} to select by, ${test.length} to test with (${env.name})`;
}

/** A key that is there may still be refused, and a model that is named may not exist: only a call tells. */
async function tryModel(
  loaded: LoadedProject,
  role: ModelRole,
  { io, budget }: { readonly io: Io; readonly budget: Budget },
): Promise<string> {
  const model = await resolveRole(loaded, role, io);
  const options = { price: priceFor(model, loaded.project.prices), countTokens: countMessages };
  const startedAt = performance.now();
  await askForOneWord(withBudget(model, budget, options));
  return `${model.id} answered in ${Math.round(performance.now() - startedAt)} ms`;
}

/** One tiny call, which tells more than a key that is there. */
async function askForOneWord(model: ChatModel): Promise<void> {
  const messages = [{ role: 'user' as const, content: 'Answer with the word ok.' }];
  // Room for a model that thinks before it answers.
  await withTimeout(model, CALL_TIMEOUT_MS).complete({ messages, maxOutputTokens: 1024, stage: 'doctor' });
}
