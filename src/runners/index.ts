export type { AgentRunnerOptions } from './agent/open-agent.ts';
export { agentRunner } from './agent/run-agent.ts';
export { nameOf, requireAgent } from './installed-skill.ts';
export { requireVisibleLoading, TRIGGER_LIMITS, type TriggerEnvOptions, triggerEnv } from './trigger/trigger-env.ts';
export { divideQueries, kindOf, loadTriggerQueries, readQueries, TriggerQuery } from './trigger/trigger-queries.ts';
export { type QaInWorkspaceOptions, qaInWorkspace } from './workspace/qa-in-workspace.ts';
export { trajectoryOf, workText } from './workspace/score-attempt.ts';
export { limitsOf, toOutput, WORK_LIMITS, type WorkspaceEnvOptions, workspaceEnv } from './workspace/workspace-env.ts';
export { type KnownTask, knownTasks, loadWorkspaceTasks, type WorkspaceTasks } from './workspace/workspace-tasks.ts';
