import { z } from 'zod';
import { SkillError } from '../../core/contracts/index.ts';
import { define, type ModelContext, type Provider } from './provider.ts';

const chat = {
  model: z.string().min(1),
  temperature: z.number().min(0).max(2).optional(),
  apiKeyEnv: z.string().optional(),
  structuredOutput: z.enum(['auto', 'off']).optional(),
};
const seeded = { ...chat, sendSeed: z.boolean().optional() };
const baseURL = z.string().optional();
const reasoningEffort = z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']).optional();

const api = z.enum(['chat', 'responses']).optional();

const modelOnly = (model: string) => ({ model });

/** `MODEL@URL`. Names of models may hold an @ too. */
function modelAtURL(text: string) {
  const at = text.lastIndexOf('@http');
  return at === -1 ? { model: text } : { model: text.slice(0, at), baseURL: text.slice(at + 1) };
}

function deploymentAtResource(text: string) {
  const [, model = text, resource] = /^(.*)@([^@/]+)$/.exec(text) ?? [];
  return resource === undefined ? modelAtURL(text) : { model, resource };
}

/** A server of one's own may want no key: it gets one only when a variable is named. */
const optionalKey = (apiKeyEnv: string | undefined, { readKey }: ModelContext) =>
  apiKeyEnv === undefined ? {} : readKey(apiKeyEnv);

/** A variable of the role, else the shared one: `TARGET_QWEN_CHAT_BASE_URL`, `QWEN_CHAT_BASE_URL`. */
const variableOf = ({ role, readSetting }: ModelContext, name: string): string | undefined =>
  [`${role.toUpperCase()}_${name}`, name].find((variable) => readSetting(variable));

/** The address and the key that variables name. */
function endpointFrom(context: ModelContext, family: string) {
  const address = variableOf(context, `${family}_BASE_URL`);
  const key = variableOf(context, `${family}_API_KEY`);
  return {
    ...(address === undefined ? {} : { baseURL: context.readSetting(address)! }),
    ...(key === undefined ? {} : context.readKey(key)),
  };
}

function requireURL(baseURL: string | undefined, { role }: ModelContext): string {
  if (baseURL !== undefined) return baseURL;
  const expected = 'expected a URL such as http://127.0.0.1:8080/v1';
  throw new SkillError('CONFIG_INVALID', `the ${role} (compatible) needs a baseURL: ${expected}, got nothing`, {
    hint: 'Write compatible:MODEL@URL, or export OPENAI_COMPATIBLE_BASE_URL=…',
  });
}

const loadModels = () => import('../../models/index.ts');

/** Models behind an HTTP API. A further one is a further row. */
export const apiProviders: Readonly<Record<string, Provider>> = {
  openai: define({
    usage: 'openai:MODEL',
    options: z.strictObject({ ...seeded, baseURL, reasoningEffort, api }),
    fromText: modelOnly,
    async create({ apiKeyEnv = 'OPENAI_API_KEY', ...options }, { readKey }) {
      const key = readKey(apiKeyEnv);
      return (await loadModels()).openaiChat({ ...options, ...key });
    },
  }),
  azure: define({
    usage: 'azure:DEPLOYMENT@RESOURCE',
    options: z.strictObject({
      ...seeded,
      baseURL,
      resource: z.string().optional(),
      apiVersion: z.string().optional(),
      auth: z.enum(['key', 'entra']).optional(),
      reasoningEffort,
      api,
    }),
    fromText: deploymentAtResource,
    async create({ apiKeyEnv, auth, ...options }, context) {
      const { readSetting } = context;
      const found = { baseURL: readSetting('AZURE_OPENAI_ENDPOINT'), resource: readSetting('AZURE_RESOURCE_NAME') };
      const address = options.baseURL || options.resource ? {} : found;
      const { azureSignIn } = await import('./azure-sign-in.ts');
      const credentials = await azureSignIn({ auth, apiKeyEnv }, context);
      return (await loadModels()).azureChat({ ...options, ...address, ...credentials });
    },
  }),
  anthropic: define({
    usage: 'anthropic:MODEL',
    options: z.strictObject({
      ...chat,
      baseURL,
      thinking: z
        .union([z.enum(['adaptive', 'disabled']), z.strictObject({ budgetTokens: z.number().int().positive() })])
        .optional(),
      effort: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).optional(),
    }),
    fromText: modelOnly,
    async create({ apiKeyEnv = 'ANTHROPIC_API_KEY', ...options }, { readKey }) {
      const key = readKey(apiKeyEnv);
      return (await loadModels()).anthropicChat({ ...options, ...key });
    },
  }),
  google: define({
    usage: 'google:MODEL',
    options: z.strictObject({
      ...seeded,
      baseURL,
      thinkingBudget: z.number().int().optional(),
      thinkingLevel: z.enum(['minimal', 'low', 'medium', 'high']).optional(),
    }),
    fromText: modelOnly,
    async create({ apiKeyEnv, ...options }, { readKey }) {
      const usual = ['GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY'];
      const key = readKey(...(apiKeyEnv === undefined ? usual : [apiKeyEnv]));
      return (await loadModels()).googleChat({ ...options, ...key });
    },
  }),
  qwen: define({
    usage: 'qwen:MODEL@URL',
    options: z.strictObject({
      ...seeded,
      baseURL,
      temperature: chat.temperature.nullable(),
      thinkingMode: z.enum(['server_default', 'enabled', 'disabled']).optional(),
    }),
    fromText: modelAtURL,
    async create({ apiKeyEnv, ...options }, context) {
      const key = optionalKey(apiKeyEnv, context);
      return (await loadModels()).qwenChat({ ...endpointFrom(context, 'QWEN_CHAT'), ...options, ...key });
    },
  }),
  minimax: define({
    usage: 'minimax:MODEL',
    options: z.strictObject({
      ...seeded,
      baseURL,
      region: z.enum(['global', 'cn']).optional(),
      thinking: z.enum(['adaptive', 'disabled']).optional(),
    }),
    fromText: modelOnly,
    async create({ apiKeyEnv = 'MINIMAX_API_KEY', ...options }, { readKey, readSetting }) {
      const key = readKey(apiKeyEnv);
      const baseURL = options.region === undefined ? readSetting('MINIMAX_BASE_URL') : undefined;
      return (await loadModels()).minimaxChat({ ...(baseURL ? { baseURL } : {}), ...options, ...key });
    },
  }),
  compatible: define({
    usage: 'compatible:MODEL@URL',
    options: z.strictObject({
      ...seeded,
      baseURL,
      maxTokensParameter: z.enum(['max_tokens', 'max_completion_tokens']).optional(),
      extraBody: z.record(z.string(), z.json()).optional(),
    }),
    fromText: modelAtURL,
    async create({ apiKeyEnv, ...options }, context) {
      // The key of one such server is nothing for another, which the project names.
      const found = options.baseURL === undefined ? endpointFrom(context, 'OPENAI_COMPATIBLE') : {};
      const whole = { ...found, ...options, ...optionalKey(apiKeyEnv, context) };
      return (await loadModels()).openaiCompatible({ ...whole, baseURL: requireURL(whole.baseURL, context) });
    },
  }),
};
