import { type ChatMessage, OWN_CALL_SENTINEL } from '../core/contracts/index.ts';
import type { AgentCall, AgentJob, Environment, Provider } from './agent-cli.ts';

/** What a CLI gets in place of a key. The gateway knows the real one. */
export const NO_KEY = 'held-by-skillopt';

/** For a CLI that takes no empty system prompt, or would put its own in its place. */
export const PLAIN_PROMPT = 'Answer the user.';

/** An option with its value, or nothing where there is no value. */
export const option = (name: string, value: string | number | undefined): readonly string[] =>
  value === undefined ? [] : [name, String(value)];

/**
 * Tools for the web that could only fail: behind the gateway no provider searches for an agent, and in a sandbox with a gateway
 * there is no network to fetch from.
 */
export const uselessTools = ({ modelUrl, isSandboxed }: AgentJob, { search, fetch }: WebTools): readonly string[] =>
  modelUrl === undefined ? [] : [...search, ...(isSandboxed ? fetch : [])];

type WebTools = { readonly search: readonly string[]; readonly fetch: readonly string[] };

/** The provider of a CLI that asks OpenAI, or the server that `OPENAI_BASE_URL` names. */
export function openaiProvider({ OPENAI_API_KEY: key, OPENAI_BASE_URL }: Environment): Provider {
  return { baseURL: OPENAI_BASE_URL ?? 'https://api.openai.com/v1', key, auth: 'bearer' };
}

/** Without the provider before the slash: behind the gateway there is only ours. */
export const bareModel = (model = 'default'): string => model.slice(model.indexOf('/') + 1);

/** Sign-ins of clouds that serve models, for a CLI that is set to use one. */
export const AMAZON = ['AWS_*'];
export const GOOGLE_CLOUD = [
  ...['GOOGLE_APPLICATION_CREDENTIALS', 'GOOGLE_CLOUD_*', 'GOOGLE_VERTEX_*', 'GCLOUD_PROJECT', 'CLOUD_ML_REGION'],
  ...['CLOUDSDK_CONFIG', 'VERTEX_*'],
];

/** Keys of model providers, and of the cloud that the model names, for a CLI that knows many of them. */
export const providerVariables = (model = ''): readonly string[] => [
  ...PROVIDER_KEYS,
  ...(model.startsWith('amazon-bedrock/') ? AMAZON : []),
  ...(model.startsWith('google-vertex') ? GOOGLE_CLOUD : []),
];

const PROVIDER_KEYS = [
  ...['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_OAUTH_TOKEN', 'ANTHROPIC_BASE_URL'],
  ...['OPENAI_API_KEY', 'OPENAI_BASE_URL', 'OPENAI_ORG_ID', 'AZURE_OPENAI_*', 'AZURE_API_KEY', 'AZURE_RESOURCE_NAME'],
  ...['GEMINI_API_KEY', 'GOOGLE_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY', 'OPENROUTER_API_KEY', 'AI_GATEWAY_API_KEY'],
  ...['GROQ_API_KEY', 'CEREBRAS_API_KEY', 'XAI_API_KEY', 'ZAI_API_KEY', 'ZHIPU_API_KEY', 'MISTRAL_API_KEY'],
  ...['DEEPSEEK_API_KEY', 'MOONSHOT_API_KEY', 'KIMI_API_KEY', 'MINIMAX_API_KEY', 'DASHSCOPE_API_KEY', 'HF_TOKEN'],
  ...['TOGETHER_API_KEY', 'FIREWORKS_API_KEY', 'DEEPINFRA_API_KEY', 'BASETEN_API_KEY', 'COHERE_API_KEY'],
  ...['PERPLEXITY_API_KEY', 'NVIDIA_API_KEY', 'OLLAMA_API_KEY', 'LMSTUDIO_API_KEY', 'COPILOT_GITHUB_TOKEN'],
];

/** A conversation as the two texts that a CLI takes. A single user message stays as it is; several turns become sections. */
export function flattenMessages(messages: readonly ChatMessage[]): Texts {
  const system = messages.filter(({ role }) => role === 'system').map(({ content }) => content);
  const turns = messages.filter(({ role }) => role !== 'system');
  const conversation =
    turns.length === 1 ? turns[0]!.content : turns.map(({ role, content }) => section(role, content)).join('\n\n');
  return { system: system.join('\n\n'), conversation };
}

type Texts = Pick<AgentCall, 'system' | 'conversation'>;

/** Both texts in one, for a CLI that takes no system prompt. */
export const withSystemSection = (texts: Texts): string =>
  texts.system === '' ? texts.conversation : inSections(texts);

/** Both texts in sections, even where there is one. The first tag marks that no person wrote this. */
export function inSections({ system, conversation }: Texts): string {
  const instructions = system === '' ? [] : [section('instructions', system)];
  const [first, ...others] = [...instructions, section('request', conversation)];
  return [first!.replace('>', ` ${OWN_CALL_SENTINEL}>`), ...others].join('\n\n');
}

const section = (name: string, content: string) => `<${name}>\n${content}\n</${name}>`;
