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
} from './agent-cli.ts';
export { agentClis } from './agent-clis.ts';
export { detectAgents, type InstalledAgent } from './detect-agents.ts';
export { requireInstalled, type Whereabouts } from './require-installed.ts';
