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

/** One thing that was checked, and what to do if it is not well. */
export type Check = {
  readonly name: string;
  readonly isOk: boolean;
  readonly detail: string;
  readonly remedy?: string;
  readonly code?: ErrorCode;
  /** What programs may ask for. */
  readonly facts?: Facts;
};
type Facts = Readonly<Record<string, string | null>>;
type Found = string | Pick<Check, 'detail' | 'facts'>;

/** `work` returns what it found. An error on purpose is a finding, and the other checks continue. */
export async function check(name: string, work: () => Promise<Found> | Found): Promise<Check> {
  try {
    const found = await work();
    return { name, isOk: true, ...(typeof found === 'string' ? { detail: found } : found) };
  } catch (error) {
    if (!(error instanceof SkillError)) throw error;
    const { code, message, hint } = error;
    return { name, isOk: false, code, detail: message, ...(hint ? { remedy: hint } : {}) };
  }
}

/** `hasCanary`: the agent works twice to show that its loading of skills can be seen. */
export async function* agentChecks(
  project: LoadedProject,
  env: Environment,
  hasCanary: boolean,
): AsyncGenerator<Check> {
  yield await sandboxCheck(project);
  const { target, runner } = await targetCheck(project, env);
  yield target;
  yield await skillCheck(project);
  if (hasCanary && runner) yield await canaryCheck(project, runner);
}

export function agentFacts(project: LoadedProject | undefined, checks: readonly Check[]): Facts | undefined {
  const target = project?.project.target;
  if (!isAgentSpec(target)) return undefined;
  const { agent = null, model = null } = target as { agent?: string; model?: string };
  const unknown = { version: null, path: null, signIn: null, sandbox: null, why: null, canary: 'not tried' };
  return Object.assign({ agent, model, ...unknown }, ...checks.map(({ facts }) => facts));
}

const choiceOf = ({ project }: LoadedProject): SandboxChoice => agentTargetOf(project)?.sandbox ?? project.sandbox;

/** Which sandbox agents get here, and why. It is tried, not guessed. */
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
  const works = `${id} works here${choice === 'auto' ? ' (sandbox: auto)' : ''}`;
  if (id !== 'bubblewrap') return works;
  const { overlay, limiter } = await probeSandbox();
  const views = overlay.isAvailable
    ? 'workspaces are views of their folder'
    : `workspaces are copies, since no view can be mounted: ${overlay.reason}`;
  const limits = limiter === 'watcher' ? 'limits are kept by looking from time to time' : `${limiter} keeps limits`;
  return `${works}; ${views}; ${limits}`;
}

const SEEN = {
  event: 'loading a skill is seen by an event',
  reads: 'loading a skill is seen by the files that it reads',
};

/** Finds the agent and asks for its version. No model is asked. */
async function targetCheck(loaded: LoadedProject, env: Environment) {
  let runner: AgentRunner | undefined;
  const target = await check('target', async () => {
    const found = (await resolveAgent(loaded, { env }))!;
    const { id, about, capabilities } = found;
    const signIns = about === undefined ? [] : [signInText(about)];
    runner = found;
    const loading = capabilities === undefined ? [] : [SEEN[capabilities.seesLoading]];
    const detail = [id, [...signIns, ...loading].join('; ')].join('\n');
    const { version = null, path = null, signIn = null } = about ?? {};
    return { detail, facts: { version, path, signIn } };
  });
  return { target, runner };
}

/** What agents make of the description, which is all that they know about a skill before they load it. */
const skillCheck = ({ project }: LoadedProject): Promise<Check> =>
  check('skill', async () => {
    if (project.skill === undefined) return 'none is named: training starts from the skill of the environment';
    const { text } = await readSkill(project.skill);
    const { name: written, description = '' } = skillHeader(text);
    if (project.env === 'qa' && written === undefined)
      return 'a text without a name, which agents get as a skill all the same';
    const name = nameOf({ files: { [SKILL_FILE]: text } });
    if (description === '')
      throw new SkillError('CONFIG_INVALID', 'it has no description, and agents load a skill by its description', {
        hint: 'Begin SKILL.md with a block between two lines of --- that holds name and description.',
      });
    const losses = lossesOf(description.length);
    const own = losses.find(({ agent }) => agent === agentTargetOf(project)?.agent);
    const about = `${name}: a description of ${count(description.length)} characters`;
    if (own !== undefined) {
      const hint = 'Shorten the description: the specification allows 1,024 characters.';
      throw new SkillError('CONFIG_INVALID', `${about}, and ${own.loss}`, { hint });
    }
    const others = losses.map(({ loss }) => loss).join(', ');
    return `${about}, which ${others === '' ? 'every agent takes whole' : `this agent takes whole; ${others}`}`;
  });

function lossesOf(length: number) {
  return Object.values(agentPrograms).flatMap(({ name: agent, longestDescription: most, dropsLonger }) => {
    if (most === undefined || length <= most) return [];
    return [{ agent, loss: dropsLonger ? `${agent} drops the skill` : `${agent} cuts it at ${count(most)}` }];
  });
}

/** The agent does two short tasks, which the user pays for. */
async function canaryCheck(loaded: LoadedProject, agent: AgentRunner): Promise<Check> {
  const found = await check('canary', async () => {
    const { project } = loaded;
    const own = { ...agentTargetOf(project)?.limits, ...project.workspace?.limits };
    const limits = { ...TRIGGER_LIMITS, ...own } as AgentLimits;
    const { signal } = new AbortController();
    const sandbox = openSandbox(choiceOf(loaded));
    await requireVisibleLoading({ agent, sandbox, name: 'canary', limits, signal });
    return 'a skill that is asked for is seen to load, and is left alone when nobody asks';
  });
  return { ...found, facts: { canary: found.isOk ? 'passed' : 'failed' } };
}

/** Lists the agents on this machine and pins their programs. None is fine: only a model may name one. */
export async function describeAgents(env: Environment, cwd: string): Promise<string> {
  const before = await readPins(env);
  const agents = await detectAgents(env, cwd);
  const others = Object.entries(before).filter(([cli]) => !agents.some((agent) => agent.cli === cli));
  const gone = others.filter(([, { path }]) => !isExecutable(path));
  const forgotten = gone.map(([cli]) => cli);
  await pinAgents(agents, env, forgotten);
  const found = agents.map(({ cli, version, path }) => {
    const old = before[cli]?.path ?? path;
    const change = old === path ? '' : ` (was ${old})`;
    return `${named(cli, version)} ${path}${change}${asTarget(cli, env)}`;
  });
  const unfound = others.map(([cli, { version, path }]) => {
    return `${named(cli, version)} ${path} ${isExecutable(path) ? '(pinned, not on PATH)' : '(is gone, and forgotten)'}`;
  });
  const sandbox = found.length === 0 ? [] : [await describeTools()];
  return [...found, ...unfound, ...sandbox].join('\n') || NO_AGENTS;
}

const NO_AGENTS = 'none on PATH; a target that names the path of its program needs none there';

async function describeTools(): Promise<string> {
  const { auto, bubblewrap } = await probeSandbox();
  if (auto !== undefined) return `with tools they work in ${auto}`;
  return `with tools they need a sandbox${bubblewrap.isAvailable ? '' : `: ${bubblewrap.reason}`}`;
}

const named = (cli: string, version: string | null | undefined) => `${cli} ${version ?? '(version unknown)'}`;

/** How an agent is named as a target with tools, and what is missing for that. */
function asTarget(cli: AgentCliName, env: Environment): string {
  const { name, needs = [] } = agentClis[cli];
  const missing = needs.filter((needed) => findBinary(needed, env) === undefined);
  const lack = missing.length === 0 ? '' : `, which needs ${missing.join(', ')} on PATH`;
  return `, target: { agent: ${name} }${lack}`;
}

/** How an agent signs in to its model. Throws when it cannot. */
function signInText({ agent, signIn }: AgentAbout): string {
  if (signIn === 'none') {
    const message = `${agent} needs a key or a sign-in to ask its model, and there is neither here`;
    throw new SkillError('CONFIG_INVALID', message, { hint: signInRemedy(agent) });
  }
  if (signIn !== 'unseen') return SIGN_IN[signIn];
  return `no key is set, and a sign-in would be in a keyring, which cannot be seen: if there is none, ${signInRemedy(agent)}`;
}

const SIGN_IN = {
  key: 'its key stays outside of the sandbox',
  address: 'no key is set, and its model is asked without one',
  file: 'it asks with your sign-in',
  variable: 'it asks with a key among its own variables',
};

function signInRemedy(agent: string): string {
  const { signInCommand, keyVariables } = agentPrograms[agent as keyof typeof agentPrograms];
  const key = keyVariables.length === 0 ? '' : `set ${keyVariables.join(' or ')}, also in .env, or `;
  return `${key}sign in: ${signInCommand}`;
}
