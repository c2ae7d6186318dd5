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
  Provider,
} from './agent-cli.ts';
export { type AgentCliName, type AgentName, agentClis, agentPrograms } from './agent-clis.ts';
export { detectAgents, type InstalledAgent } from './detect-agents.ts';
export { requireInstalled, type Whereabouts } from './require-installed.ts';
