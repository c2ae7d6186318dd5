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
export { agentError, startError } from './agent-error.ts';
export { childEnvironment } from './child-environment.ts';
export { detectAgents, findAgents, type InstalledAgent, versionOf } from './detect-agents.ts';
export { findBinary, isExecutable, isForeign, isInside, projectFolders } from './find-binary.ts';
export {
  type AgentEvent,
  type AgentJob,
  type AgentName,
  type AgentProgram,
  type EventReader,
  type Launch,
  NO_KEY,
  type Provider,
} from './programs/agent-program.ts';
export { agentPrograms } from './programs/programs.ts';
export { isSameModel } from './programs/same-model.ts';
export { callerVariables, homeIn, locate, requireInstalled, type Whereabouts } from './require-installed.ts';
export { requireProgram } from './require-program.ts';
