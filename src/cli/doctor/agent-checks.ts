import { agentPrograms } from '../../agents/index.ts';
import { readSkill } from '../../app/index.ts';
import { type AgentLimits, type AgentRunner, SkillError } from '../../core/contracts/index.ts';
import { SKILL_FILE } from '../../core/document/index.ts';
import { count } from '../../core/text/index.ts';
import { agentTargetOf, type Environment, isAgentSpec, type LoadedProject, resolveAgent } from '../../project/index.ts';
import { nameOf, requireVisibleLoading, TRIGGER_LIMITS } from '../../runners/index.ts';
import { skillHeader } from '../../skills/index.ts';
import { openSandbox, probeSandbox, type SandboxChoice } from '../../workspaces/index.ts';
import { type Check, check, type Facts } from './check.ts';
import { signInText } from './sign-in-text.ts';

export type AgentLook = {
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
  event: 'loading a skill is told by an event',
  reads: 'loading a skill is told by the files that it reads',
};

const CANARY_ADVICE = 'whether that can be seen to work: skillopt doctor --canary';

/** The agent, found and asked for its version. No model is asked. */
async function targetCheck(loaded: LoadedProject, { env, hasCanary }: AgentLook) {
  let runner: AgentRunner | undefined;
  const target = await check('target', async () => {
    const found = (await resolveAgent(loaded, { env }))!;
    const { id, about, capabilities } = found;
    const key = about === undefined ? [] : [signInText(about)];
    runner = found;
    const seen = capabilities === undefined ? [] : [SEEN[capabilities.seesLoading]];
    const detail = [id, [...key, ...seen].join('; '), ...(hasCanary ? [] : [CANARY_ADVICE])].join('\n');
    const { version = null, path = null, signIn = null } = about ?? {};
    return { detail, facts: { version, path, signIn } };
  });
  return { target, runner };
}

/** What agents do with the description, which is all that they know of a skill before they load it. */
const skillCheck = ({ project }: LoadedProject): Promise<Check> =>
  check('skill', async () => {
    if (project.skill === undefined) return 'none is named: it begins with what the environment gives';
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
