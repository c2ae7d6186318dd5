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
export { childEnvironment } from './child-environment.ts';
export { NO_KEY } from './cli-parts.ts';
export { detectAgents, findAgents, type InstalledAgent, requireProgram, versionOf } from './detect-agents.ts';
export {
  callerVariables,
  findBinary,
  homeIn,
  isExecutable,
  isForeign,
  isInside,
  locate,
  projectFolders,
  requireInstalled,
  type Whereabouts,
} from './require-installed.ts';
