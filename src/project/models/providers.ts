import { z } from 'zod';
import { noTarget, SkillError } from '../../core/contracts/index.ts';
import { agentProviders } from './agent-providers.ts';
import { apiProviders } from './api-providers.ts';
import { define, type Provider } from './provider.ts';

/** What a project may name as a model. A further provider is a further row. */
export const providers: Readonly<Record<string, Provider>> = {
  simulated: define({
    usage: 'simulated',
    options: z.looseObject({}), // the simulated models check their own knobs
    fromText: () => ({}),
    async create(options, { role }) {
      const { simulatedTarget, simulatedOptimizer } = await import('../../sim/index.ts');
      if (role === 'judge')
        throw new SkillError('CONFIG_INVALID', 'the simulated world scores by rule: it has no judge', {
          hint: 'Name a real model as judge. A whole week with simulated ones: skillopt demo sleep',
        });
      return role === 'target' ? simulatedTarget(options) : simulatedOptimizer(options);
    },
  }),
  none: define({
    usage: 'none',
    options: z.strictObject({}),
    fromText: (text) => (text === '' ? {} : { model: text }),
    async create(_options, { role }) {
      if (role === 'target') return noTarget;
      throw new SkillError('CONFIG_INVALID', `none is for a target that nobody asks, and the ${role} is asked`);
    },
  }),
  ...apiProviders,
  ...agentProviders,
};

/** Whether a target is an agent with tools: then no chat model is asked. */
export const isAgentSpec = (spec: unknown): boolean => typeof spec === 'object' && spec !== null && 'agent' in spec;

/** Whether a project says that its environment asks no model. */
export const isNoTarget = (spec: unknown): boolean =>
  spec === 'none' || isAgentSpec(spec) || (spec as { provider?: unknown } | undefined)?.provider === 'none';

/** Names under which other trainers know the same providers. */
export const providerAliases: Readonly<Record<string, string>> = {
  openai_chat: 'openai',
  claude_chat: 'claude-cli',
  azure_openai: 'azure',
  qwen_chat: 'qwen',
  minimax_chat: 'minimax',
  openai_compatible: 'compatible',
  openai_compatible_chat: 'compatible',
  copilot_chat: 'copilot-cli',
  copilot_cli: 'copilot-cli',
  github_copilot: 'copilot-cli',
};

const AGENT = 'runs an agent in a folder of files, which only a target can: target: { agent: claude }';

/** Names that are known and not served, with the reason. */
export const refusedProviders: Readonly<Record<string, string>> = {
  codex_exec: AGENT,
  claude_code_exec: AGENT,
  cursor_exec: AGENT,
  copilot_exec: AGENT,
};
