/** Agents at work: what they are asked to do, in which workspace, and how it is scored. */

export { Assertion, WorkspaceTask, type WorkspaceTaskInput } from '../core/judge/index.ts';
export { toEvals, type WrittenEvals } from '../imports/index.ts';
export {
  type AgentRunnerOptions,
  agentRunner,
  loadTriggerQueries,
  loadWorkspaceTasks,
  type QaInWorkspaceOptions,
  qaInWorkspace,
  type TriggerEnvOptions,
  TriggerQuery,
  triggerEnv,
  type WorkspaceEnvOptions,
  type WorkspaceTasks,
  workspaceEnv,
} from '../runners/index.ts';
