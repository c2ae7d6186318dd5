import type { AgentCli, AgentCliName } from './agent-cli.ts';
import { claude } from './clis/claude.ts';
import { codex } from './clis/codex.ts';
import { copilot } from './clis/copilot.ts';
import { cursor } from './clis/cursor.ts';
import { gemini } from './clis/gemini.ts';
import { opencode } from './clis/opencode.ts';
import { pi } from './clis/pi.ts';
import { qwen } from './clis/qwen.ts';

/** Every agent CLI that can be asked, by name. */
export const agentClis: Readonly<Record<AgentCliName, AgentCli>> = {
  'claude-cli': claude,
  'codex-cli': codex,
  'copilot-cli': copilot,
  'cursor-cli': cursor,
  'gemini-cli': gemini,
  'opencode-cli': opencode,
  'pi-cli': pi,
  'qwen-cli': qwen,
};
