import type { AgentName, AgentProgram } from './agent-program.ts';
import { claude } from './claude.ts';
import { codex } from './codex.ts';
import { copilot } from './copilot.ts';
import { cursor } from './cursor.ts';
import { gemini } from './gemini.ts';
import { opencode } from './opencode.ts';
import { pi } from './pi.ts';
import { qwen } from './qwen.ts';

/** Every agent CLI that can work in a workspace, by name. */
export const agentPrograms: Readonly<Record<AgentName, AgentProgram>> = {
  claude,
  codex,
  copilot,
  cursor,
  gemini,
  opencode,
  pi,
  qwen,
};
