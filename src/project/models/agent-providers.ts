import { z } from 'zod';
import type { AgentCliName } from '../../agents/index.ts';
import { define, type Provider } from './provider.ts';

const CLIS: readonly AgentCliName[] = [
  'claude-cli',
  'codex-cli',
  'copilot-cli',
  'cursor-cli',
  'gemini-cli',
  'opencode-cli',
  'pi-cli',
  'qwen-cli',
];

/** Agent CLIs that are installed and signed in: they need no key of ours. */
export const agentProviders: Readonly<Record<string, Provider>> = Object.fromEntries(
  CLIS.map((cli) => [cli, agentProvider(cli)]),
);

function agentProvider(cli: AgentCliName): Provider {
  return define({
    usage: `${cli}:MODEL`,
    options: z.strictObject({
      model: z.string().min(1).optional(),
      path: z.string().min(1).optional(),
      timeoutMs: z.number().int().positive().optional(),
    }),
    fromText: (model) => (model === '' ? {} : { model }),
    async create(options) {
      const { agentChat, requireInstalled } = await import('../../agents/index.ts');
      requireInstalled({ cli, ...options }); // now, so that a CLI that is not there is known before any call
      return agentChat({ cli, ...options });
    },
  });
}
