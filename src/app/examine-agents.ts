import {
  type AgentCliName,
  agentClis,
  agentPrograms,
  detectAgents,
  findBinary,
  isExecutable,
} from '../agents/index.ts';
import {
  type AgentAbout,
  type AgentLimits,
  type AgentRunner,
  type ErrorCode,
  SkillError,
} from '../core/contracts/index.ts';
import { SKILL_FILE } from '../core/document/index.ts';
import { count } from '../core/text/index.ts';
import {
  type AgentPin,
  agentTargetOf,
  type Environment,
  isAgentSpec,
  type LoadedProject,
  pinAgents,
  readPins,
  resolveAgent,
} from '../project/index.ts';
import { nameOf, requireVisibleLoading, TRIGGER_LIMITS } from '../runners/index.ts';
import { skillHeader } from '../skills/index.ts';
import { openSandbox, probeSandbox, type SandboxChoice } from '../workspaces/index.ts';
import { readSkill } from './wire-run.ts';

type AgentLook = {
  readonly env: Environment;
  /** Whether an agent is to show that its loading of skills can be seen. */
  readonly hasCanary: boolean;
};

/** What is looked at where the target is an agent. */
export async function* agentChecks(project: LoadedProject, look: AgentLook): AsyncGenerator<Check> {
  yield await sandboxCheck(project);
  const { target, runner } = await targetCheck(project, look);
  yield target;
  yield await skillCheck(project);
  if (look.hasCanary && runner) yield await canaryCheck(project, runner);
}

/** What the checks found out about the agent, for programs. */
export function agentFacts(project: LoadedProject | undefined, checks: readonly Check[]): Facts | undefined {
  const target = project?.project.target;
  if (!isAgentSpec(target)) return undefined;
  const { agent = null, model = null } = target as { agent?: string; model?: string };
  const unknown = { version: null, path: null, signIn: null, sandbox: null, why: null, canary: 'not tried' };
  return Object.assign({ agent, model, ...unknown }, ...checks.map(({ facts }) => facts));
}

const choiceOf = ({ project }: LoadedProject): SandboxChoice => agentTargetOf(project)?.sandbox ?? project.sandbox;

/** Which sandbox agents get here, and why. Tried, not guessed. */
async function sandboxCheck(loaded: LoadedProject): Promise<Check> {
  const found = await check('sandbox', async () => {
    const choice = choiceOf(loaded);
    const sandbox = openSandbox(choice);
    await sandbox.ready();
    const why = choice === 'auto' ? 'sandbox: auto' : 'the project says so';
    return { detail: await describeSandbox(sandbox.id, choice), facts: { sandbox: sandbox.id, why } };
  });
  return found.isOk ? found : { ...found, facts: { sandbox: null, why: found.detail } };
}

async function describeSandbox(id: string, choice: SandboxChoice): Promise<string> {
  if (id === 'none') return 'none, as the project says: agents work with your rights and your network';
  const asked = choice === 'auto' ? ' (sandbox: auto)' : '';
  return `${id} works here${asked}${id === 'bubblewrap' ? `; ${await describeProbe()}` : ''}`;
}

async function describeProbe(): Promise<string> {
  const { overlay, limiter } = await probeSandbox();
  const views = overlay.isAvailable
    ? 'workspaces are views of their folder'
    : `workspaces are copies, since no view can be mounted: ${overlay.reason}`;
  return `${views}; ${limiter === 'watcher' ? 'limits are kept by looking from time to time' : `${limiter} keeps limits`}`;
}

const SEEN = {
  event: 'loading a skill is seen by an event',
  reads: 'loading a skill is seen by the files that it reads',
};

/** The agent, found and asked for its version. No model is asked. */
async function targetCheck(loaded: LoadedProject, { env }: AgentLook) {
  let runner: AgentRunner | undefined;
  const target = await check('target', async () => {
    const found = (await resolveAgent(loaded, { env }))!;
    const { id, about, capabilities } = found;
    const key = about === undefined ? [] : [signInText(about)];
    runner = found;
    const seen = capabilities === undefined ? [] : [SEEN[capabilities.seesLoading]];
    const detail = [id, [...key, ...seen].join('; ')].join('\n');
    const { version = null, path = null, signIn = null } = about ?? {};
    return { detail, facts: { version, path, signIn } };
  });
  return { target, runner };
}

/** What agents do with the description, which is all that they know of a skill before they load it. */
const skillCheck = ({ project }: LoadedProject): Promise<Check> =>
  check('skill', async () => {
    if (project.skill === undefined) return 'none is named: training starts from the skill of the environment';
    const { text } = await readSkill(project.skill);
    const { name: written, description = '' } = skillHeader(text);
    if (project.env === 'qa' && written === undefined)
      return 'a text without a name, which agents get as a skill all the same';
    const name = nameOf({ files: { [SKILL_FILE]: text } });
    if (description === '') throw noDescription();
    const length = description.length;
    const losses = lossesOf(length);
    const own = losses.find(({ agent }) => agent === agentTargetOf(project)?.agent);
    const said = `${name}: a description of ${count(length)} characters`;
    if (own !== undefined) throw tooLong(said, own.loss);
    const others = losses.map(({ loss }) => loss).join(', ');
    return `${said}, which ${others === '' ? 'every agent takes whole' : `this agent takes whole; ${others}`}`;
  });

function lossesOf(length: number) {
  return Object.values(agentPrograms).flatMap(({ name: agent, longestDescription: most, dropsLonger }) => {
    if (most === undefined || length <= most) return [];
    return [{ agent, loss: dropsLonger ? `${agent} drops the skill` : `${agent} cuts it at ${count(most)}` }];
  });
}

const tooLong = (said: string, loss: string) =>
  new SkillError('CONFIG_INVALID', `${said}, and ${loss}`, {
    hint: 'Shorten the description: the specification allows 1,024 characters.',
  });

const noDescription = () =>
  new SkillError('CONFIG_INVALID', 'it has no description, and agents load a skill by its description', {
    hint: 'Begin SKILL.md with a block between two lines of --- that holds name and description.',
  });

const CANARY = 'canary';

/** Two short pieces of work of the agent, paid for by whoever asked for it. */
async function canaryCheck(loaded: LoadedProject, agent: AgentRunner): Promise<Check> {
  const found = await check('canary', async () => {
    const { project } = loaded;
    const own = { ...agentTargetOf(project)?.limits, ...project.workspace?.limits };
    const limits = { ...TRIGGER_LIMITS, ...own } as AgentLimits;
    const { signal } = new AbortController();
    const sandbox = openSandbox(choiceOf(loaded));
    await requireVisibleLoading({ agent, sandbox, name: CANARY, limits, signal });
    return 'a skill that is asked for is seen to load, and is left alone when nobody asks';
  });
  return { ...found, facts: { canary: found.isOk ? 'passed' : 'failed' } };
}

/** One thing that was looked at, and what to do about it if it is not well. */
export type Check = {
  readonly name: string;
  readonly isOk: boolean;
  readonly detail: string;
  readonly remedy?: string;
  /** Of the error that was found. */
  readonly code?: ErrorCode;
  /** The same for programs, of what they ask for. */
  readonly facts?: Facts;
};
type Facts = Readonly<Record<string, string | null>>;

type Seen = string | { readonly detail: string; readonly facts: Facts };

/** `work` answers with what was seen. What it throws on purpose is a finding; the rest of the checks continue. */
export async function check(name: string, work: () => Promise<Seen> | Seen): Promise<Check> {
  try {
    const seen = await work();
    return { name, isOk: true, ...(typeof seen === 'string' ? { detail: seen } : seen) };
  } catch (error) {
    if (!(error instanceof SkillError)) throw error;
    const { code, message, hint } = error;
    return { name, isOk: false, code, detail: message, ...(hint ? { remedy: hint } : {}) };
  }
}

/** None is fine: they are only needed by who names one as a model. Those that are found are run from now on. */
export async function describeAgents(env: Environment, cwd: string): Promise<string> {
  const before = await readPins(env);
  const agents = await detectAgents(env, cwd);
  const others = Object.entries(before).filter(([cli]) => !agents.some((agent) => agent.cli === cli));
  const gone = others.filter(([, { path }]) => !isExecutable(path));
  await pinAgents(
    agents,
    env,
    gone.map(([cli]) => cli),
  );
  const found = agents.map(
    ({ cli, version, path }) => `${named(cli, version)} ${path}${changeOf(before[cli], path)}${asTarget(cli, env)}`,
  );
  const unfound = others.map(([cli, { version, path }]) => {
    return `${named(cli, version)} ${path} ${isExecutable(path) ? '(pinned, not on PATH)' : '(is gone, and forgotten)'}`;
  });
  const sandbox = found.length === 0 ? [] : [await describeTools()];
  return [...found, ...unfound, ...sandbox].join('\n') || NO_AGENTS;
}

const NO_AGENTS = 'none on PATH; a target that names the path of its program needs none there';

/** Where they would work, with tools. Tried, not guessed. */
async function describeTools(): Promise<string> {
  const { auto, bubblewrap } = await probeSandbox();
  if (auto !== undefined) return `with tools they work in ${auto}`;
  return `with tools they need a sandbox${bubblewrap.isAvailable ? '' : `: ${bubblewrap.reason}`}`;
}

const named = (cli: string, version: string | null | undefined) => `${cli} ${version ?? '(version unknown)'}`;

/** How it is named as a target with tools, and what it would still need for that. */
function asTarget(cli: AgentCliName, env: Environment): string {
  const { name, needs = [] } = agentClis[cli];
  const missing = needs.filter((needed) => findBinary(needed, env) === undefined);
  const lack = missing.length === 0 ? '' : `, which needs ${missing.join(', ')} on PATH`;
  return `, target: { agent: ${name} }${lack}`;
}

const changeOf = (before: AgentPin | undefined, path: string) =>
  before === undefined || before.path === path ? '' : ` (was ${before.path})`;

/** How an agent's model will know whose calls they are. Throws when it cannot. */
function signInText({ agent, signIn }: AgentAbout): string {
  if (signIn === 'none') throw noSignIn(agent);
  if (signIn !== 'unseen') return SIGN_IN[signIn];
  return `no key is set, and a sign-in would be in a keyring, which cannot be seen: if there is none, ${signInRemedy(agent)}`;
}

const SIGN_IN = {
  key: 'its key stays outside of the sandbox',
  address: 'no key is set, and its model is asked without one',
  file: 'it asks with your sign-in',
  variable: 'it asks with a key among its own variables',
};

const noSignIn = (agent: string) =>
  new SkillError('CONFIG_INVALID', `${agent} needs a key or a sign-in to ask its model, and there is neither here`, {
    hint: signInRemedy(agent),
  });

function signInRemedy(agent: string): string {
  const { signInCommand, keyVariables } = agentPrograms[agent as keyof typeof agentPrograms];
  const key = keyVariables.length === 0 ? '' : `set ${keyVariables.join(' or ')}, also in .env, or `;
  return `${key}sign in: ${signInCommand}`;
}
