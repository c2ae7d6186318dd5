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
export type {
  AgentEvent,
  AgentJob,
  AgentName,
  AgentProgram,
  EventReader,
  Launch,
  Provider,
} from './programs/agent-program.ts';
export { agentPrograms } from './programs/programs.ts';
export { requireInstalled, type Whereabouts } from './require-installed.ts';
