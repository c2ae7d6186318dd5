import type { AgentCliName } from 'skillopt/agents';

/** What makes a real CLI talk to the fake provider in an isolated home, as its user would have set it up. */
export type CliRow = {
  readonly cli: AgentCliName;
  readonly specifier: string;
  readonly model: string;
  env?(url: string): Record<string, string>;
  /** By path in the home. */
  homeFiles?(url: string): Record<string, string>;
  /** Arguments put before ours. */
  extraArgs?(url: string): readonly string[];
  /** Instruction files and skills that the CLI reads when a person starts it. */
  readonly planted: readonly string[];
  readonly usage: { readonly input: number; readonly output: number };
  /** Statuses that the CLI keeps to itself. */
  readonly unnamed?: readonly number[];
};

const counted = { input: 11, output: 7 };

export const cliRows: readonly CliRow[] = [
  {
    cli: 'claude-cli',
    specifier: '@anthropic-ai/claude-code@2.1.197',
    model: 'claude-sonnet-4-5',
    env: (url) => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'dummy' }),
    planted: ['.claude/CLAUDE.md', '.claude/rules/planted.md', '.claude/skills/planted/SKILL.md'],
    usage: counted,
  },
  {
    cli: 'codex-cli',
    specifier: '@openai/codex@0.166.0',
    model: 'fake-model',
    env: () => ({ FAKE_KEY: 'dummy' }),
    extraArgs: (url) => ['-c', 'model_provider="fake"', '-c', `model_providers.fake=${codexProvider(url)}`],
    planted: [
      '.codex/AGENTS.md',
      '.codex/AGENTS.override.md',
      '.codex/skills/planted/SKILL.md',
      '.agents/skills/planted/SKILL.md',
    ],
    usage: counted,
    unnamed: [500],
  },
  {
    cli: 'gemini-cli',
    specifier: '@google/gemini-cli@0.61.0',
    model: 'gemini-2.5-flash',
    env: (url) => ({ GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: 'dummy' }),
    homeFiles: () => ({
      '.gemini/settings.json': JSON.stringify({ security: { auth: { selectedType: 'gemini-api-key' } } }),
    }),
    planted: ['.gemini/GEMINI.md', '.gemini/skills/planted/SKILL.md', '.agents/skills/planted/SKILL.md'],
    usage: counted,
  },
  {
    cli: 'qwen-cli',
    specifier: '@qwen-code/qwen-code@0.15.10',
    model: 'fake-model',
    env: (url) => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: 'dummy' }),
    homeFiles: () => ({ '.qwen/settings.json': JSON.stringify({ security: { auth: { selectedType: 'openai' } } }) }),
    planted: ['.qwen/QWEN.md', '.qwen/AGENTS.md', '.qwen/skills/planted/SKILL.md', '.agents/skills/planted/SKILL.md'],
    usage: counted,
  },
  {
    cli: 'pi-cli',
    specifier: '@earendil-works/pi-coding-agent@0.74.2',
    model: 'fake/fake-model',
    homeFiles: (url) => ({ '.pi/agent/models.json': piModels(url) }),
    planted: [
      '.pi/agent/AGENTS.md',
      '.pi/agent/SYSTEM.md',
      '.pi/agent/APPEND_SYSTEM.md',
      '.pi/agent/skills/planted/SKILL.md',
      '.agents/skills/planted/SKILL.md',
    ],
    usage: counted,
  },
  {
    cli: 'copilot-cli',
    specifier: '@github/copilot@1.0.102',
    model: 'fake-model',
    env: (url) => ({
      COPILOT_PROVIDER_TYPE: 'openai',
      COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
      COPILOT_PROVIDER_API_KEY: 'dummy',
      COPILOT_OFFLINE: 'true',
    }),
    planted: [
      '.copilot/copilot-instructions.md',
      '.copilot/AGENTS.md',
      '.copilot/instructions/planted.instructions.md',
      '.copilot/skills/planted/SKILL.md',
    ],
    usage: { input: 0, output: 0 },
  },
  {
    cli: 'opencode-cli',
    specifier: 'opencode-ai@1.18.18',
    model: 'fake/fake-model',
    env: (url) => ({ OPENCODE_CONFIG_CONTENT: opencodeProvider(url), OPENCODE_DISABLE_MODELS_FETCH: '1' }),
    homeFiles: () => ({ '.opencode/opencode.json': JSON.stringify({ instructions: ['~/AGENTS.md'] }) }),
    planted: [
      '.config/opencode/AGENTS.md',
      '.config/opencode/skill/planted/SKILL.md',
      '.opencode/agent/chat.md',
      '.opencode/skill/planted/SKILL.md',
    ],
    usage: counted,
  },
];

const codexProvider = (url: string) => `{name="fake",base_url="${url}/v1",env_key="FAKE_KEY",wire_api="responses"}`;

function piModels(url: string): string {
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  const limits = { contextWindow: 100_000, maxTokens: 4000 };
  const model = { id: 'fake-model', name: 'fake', reasoning: false, input: ['text'], ...limits, cost };
  const fake = { baseUrl: `${url}/v1`, api: 'openai-completions', apiKey: 'dummy', models: [model] };
  return JSON.stringify({ providers: { fake } });
}

function opencodeProvider(url: string): string {
  const options = { baseURL: `${url}/v1`, apiKey: 'dummy' };
  const fake = { npm: '@ai-sdk/openai-compatible', options, models: { 'fake-model': {} } };
  return JSON.stringify({ provider: { fake } });
}
