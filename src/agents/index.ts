export { type AgentChatOptions, agentChat } from './agent-chat.ts';
export type {
  AgentAnswer,
  AgentCall,
  AgentCli,
  AgentCliName,
  AgentOutput,
  AgentRefusal,
  Environment,
  Invocation,
  Located,
} from './agent-cli.ts';
export { agentClis } from './agent-clis.ts';
export { type AgentFailure, agentError, startError } from './agent-error.ts';
export { childEnvironment } from './child-environment.ts';
export { detectAgents, type InstalledAgent, versionOf } from './detect-agents.ts';
export { findBinary } from './find-binary.ts';
export { callerVariables, homeIn, locate, requireInstalled, type Whereabouts } from './require-installed.ts';
export type {
  AgentEvent,
  AgentJob,
  AgentName,
  AgentProgram,
  EventReader,
  Launch,
  Provider,
} from './work/agent-program.ts';
export { NO_KEY } from './work/agent-program.ts';
export { agentPrograms } from './work/programs.ts';
