import type { AgentCli } from './agent-cli.ts';
import { claude } from './clis/claude.ts';
import { codex } from './clis/codex.ts';
import { copilot } from './clis/copilot.ts';
import { cursor } from './clis/cursor.ts';
import { gemini } from './clis/gemini.ts';
import { opencode } from './clis/opencode.ts';
import { pi } from './clis/pi.ts';
import { qwen } from './clis/qwen.ts';

/** Every agent CLI, in the order in which they are looked for. A further one is a file and a row. */
const rows = { claude, codex, copilot, cursor, gemini, opencode, pi, qwen };

export type AgentName = keyof typeof rows;
export type AgentCliName = `${AgentName}-cli`;

/** By the name that a target with tools has: `target: { agent: claude }`. */
export const agentPrograms: Readonly<Record<AgentName, AgentCli<AgentName>>> = rows;

/** The same, by the name that a chat model has: `target: claude-cli:MODEL`. */
export const agentClis = Object.fromEntries(Object.values(rows).map((row) => [row.cli, row])) as Readonly<
  Record<AgentCliName, AgentCli<AgentName>>
>;
