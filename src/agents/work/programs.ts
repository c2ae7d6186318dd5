import type { AgentName, AgentProgram } from './agent-program.ts';
import { claude } from './claude.ts';
import { codex } from './codex.ts';

/** Every agent CLI that can work in a workspace, by name. */
export const agentPrograms: Readonly<Partial<Record<AgentName, AgentProgram>>> = { claude, codex };
