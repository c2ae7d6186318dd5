/** Agents at work: what they are asked to do, in which workspace, and how it is scored. */
export type { AgentRunnerOptions } from './agent/open-agent.ts';
export { agentRunner } from './agent/run-agent.ts';
export { toEvals, type WrittenEvals } from './import/evals.ts';
export { loadTriggerQueries } from './trigger/load-queries.ts';
export { type TriggerEnvOptions, triggerEnv } from './trigger/trigger-env.ts';
export { TriggerQuery } from './trigger/trigger-query.ts';
export { Assertion } from './workspace/assertion.ts';
export { loadWorkspaceTasks, type WorkspaceTasks } from './workspace/load-tasks.ts';
export { type QaInWorkspaceOptions, qaInWorkspace } from './workspace/qa-in-workspace.ts';
export { type WorkspaceEnvOptions, workspaceEnv } from './workspace/workspace-env.ts';
export { WorkspaceTask, type WorkspaceTaskInput } from './workspace/workspace-task.ts';
