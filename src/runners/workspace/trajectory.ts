import type { AgentRun, AgentRunner } from '../../core/agent-runner.ts';
import { type Trajectory, toAtif } from '../../core/atif.ts';

/** Enough to walk through a run, and little enough to keep all runs of a training. */
const BOUNDS = { maxTextLength: 20_000, maxLength: 400_000 };

type Asked = { readonly agent: AgentRunner; readonly prompt: string; readonly sessionId: string };

/** What an agent did, for other tools to read. A runner's id begins with the agent and its version. */
export function trajectoryOf(run: AgentRun, { agent, prompt, sessionId }: Asked): Trajectory {
  const [, name = agent.id, version = 'unknown'] = /^([^@:]+?)(?:@([^:\s]+))?(?::|$)/.exec(agent.id) ?? [];
  return toAtif(run, { agent: name, version, model: agent.modelName, sessionId, prompt, ...BOUNDS });
}
