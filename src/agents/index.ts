export { type AgentChatOptions, agentChat } from './agent-chat.ts';
export type {
  AgentAnswer,
  AgentCall,
  AgentCli,
  AgentEvent,
  AgentJob,
  AgentOutput,
  AgentRefusal,
  CliDocuments,
  CliUser,
  Environment,
  EventReader,
  Invocation,
  Launch,
  Located,
  Provider,
} from './agent-cli.ts';
export { type AgentCliName, type AgentName, agentClis, agentPrograms } from './agent-clis.ts';
export { agentError, startError } from './agent-error.ts';
export { NO_KEY } from './cli-parts.ts';
export {
  callerVariables,
  detectAgents,
  findAgents,
  findBinary,
  homeIn,
  type InstalledAgent,
  isExecutable,
  isForeign,
  isInside,
  locate,
  projectFolders,
  requireInstalled,
  requireProgram,
  versionOf,
  type Whereabouts,
} from './detect-agents.ts';
export { childEnvironment } from './run-process.ts';
