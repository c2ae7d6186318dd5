import { agentPrograms } from '../../agents/index.ts';
import type { AgentLimits } from '../../core/agent/agent-limits.ts';
import type { AgentRunner } from '../../core/agent/agent-runner.ts';
import { SkillError } from '../../core/errors.ts';
import type { LoadedProject } from '../../project/load-project.ts';
import { agentTargetOf, resolveAgent } from '../../project/models/agent-target.ts';
import type { Environment } from '../../project/models/resolve-model.ts';
import { TRIGGER_LIMITS } from '../../runners/agent/default-limits.ts';
import { requireVisibleLoading } from '../../runners/trigger/canary.ts';
import { readSkill } from '../../runs/wire-run.ts';
import { skillHeader } from '../../skills/index.ts';
import { openSandbox, probeSandbox, type SandboxChoice } from '../../workspaces/index.ts';
import { count } from '../terminal/figures.ts';
import { type Check, check } from './check.ts';

const choiceOf = ({ project }: LoadedProject): SandboxChoice => agentTargetOf(project)?.sandbox ?? project.sandbox;

/** Which sandbox agents get here, and why. Tried, not guessed. */
export const sandboxCheck = (loaded: LoadedProject): Promise<Check> =>
  check('sandbox', async () => {
    const choice = choiceOf(loaded);
    const sandbox = openSandbox(choice);
    await sandbox.ready();
    if (sandbox.id === 'none') return 'none, as the project says: agents work with your rights and your network';
    const asked = choice === 'auto' ? ' (sandbox: auto)' : '';
    return `${sandbox.id} works here${asked}${sandbox.id === 'bubblewrap' ? `; ${await describeProbe()}` : ''}`;
  });

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

/** The agent, found and asked for its version. No model is asked. */
export async function targetCheck(loaded: LoadedProject, env: Environment) {
  let runner: AgentRunner | undefined;
  const target = await check('target', async () => {
    runner = await resolveAgent(loaded, { env });
    const { id, account, capabilities } = runner!;
    const key = account === undefined ? 'it asks with your sign-in' : 'its key stays outside of the sandbox';
    const seen = capabilities === undefined ? [] : [SEEN[capabilities.seesLoading]];
    return [id, [key, ...seen].join('; '), 'whether that can be seen to work: skillopt doctor --canary'].join('\n');
  });
  return { target, runner };
}

/** What agents do with the description, which is all that they know of a skill before they load it. */
export const skillCheck = ({ project }: LoadedProject): Promise<Check> =>
  check('skill', async () => {
    if (project.skill === undefined) return 'none is named: it begins with what the environment gives';
    const { name, description = '' } = skillHeader((await readSkill(project.skill)).text);
    if (description === '') throw noDescription();
    const length = description.length;
    const losses = lossesOf(length);
    const own = losses.find(({ agent }) => agent === agentTargetOf(project)?.agent);
    const said = `${name ?? '(no name)'}: a description of ${count(length)} characters`;
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
export const canaryCheck = (loaded: LoadedProject, agent: AgentRunner): Promise<Check> =>
  check('canary', async () => {
    const { project } = loaded;
    const own = { ...agentTargetOf(project)?.limits, ...project.workspace?.limits };
    const limits = { ...TRIGGER_LIMITS, ...own } as AgentLimits;
    const { signal } = new AbortController();
    const sandbox = openSandbox(choiceOf(loaded));
    await requireVisibleLoading({ agent, sandbox, name: CANARY, limits, signal });
    return 'a skill that is asked for is seen to load, and is left alone when nobody asks';
  });
