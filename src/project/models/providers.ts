import { z } from 'zod';
import { type AgentCliName, agentChat, agentClis } from '../../agents/index.ts';
import { noTarget, SkillError } from '../../core/contracts/index.ts';
import {
  anthropicChat,
  azureChat,
  googleChat,
  minimaxChat,
  openaiChat,
  openaiCompatible,
  qwenChat,
} from '../../models/index.ts';
import { simulatedOptimizer, simulatedTarget } from '../../sim/index.ts';
import { namedProgram, pinnedProgram } from './agent-pins.ts';
import { azureSignIn } from './azure-sign-in.ts';
import { define, type ModelContext, type ModelRole, type Provider } from './provider.ts';
import { type Address, addressFrom, keyFor, mayHave } from './usual-key.ts';

const chat = {
  model: z.string().min(1),
  temperature: z.number().min(0).max(2).optional(),
  apiKeyEnv: z.string().optional(),
  structuredOutput: z.enum(['auto', 'off']).optional(),
  baseURL: z.string().optional(),
};
const seeded = { ...chat, sendSeed: z.boolean().optional() };
const openai = {
  ...seeded,
  reasoningEffort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']).optional(),
  api: z.enum(['chat', 'responses']).optional(),
};

const modelOnly = (model: string) => ({ model });

/** `MODEL@URL`. Names of models may have an @ too. */
function modelAtURL(text: string) {
  const at = text.lastIndexOf('@http');
  return at === -1 ? { model: text } : { model: text.slice(0, at), baseURL: text.slice(at + 1) };
}

function deploymentAtResource(text: string) {
  const [, model = text, resource] = /^(.*)@([^@/]+)$/.exec(text) ?? [];
  return resource === undefined ? modelAtURL(text) : { model, resource };
}

type KeyOptions = { readonly apiKeyEnv?: string | undefined; readonly baseURL?: string | undefined };

/** The options with a key, from the variable that they name or else from a usual one. */
function withKey<Options extends KeyOptions>(
  provider: Parameters<typeof keyFor>[0],
  options: Options,
  context: ModelContext,
) {
  const { apiKeyEnv: _, ...others } = options;
  return { ...others, ...keyFor(provider, options, context) };
}

/** A user's own server may need no key: it gets one only if a variable is named. */
function withOptionalKey<Options extends KeyOptions>({ apiKeyEnv, ...options }: Options, { readKey }: ModelContext) {
  return { ...options, ...(apiKeyEnv === undefined ? {} : readKey(apiKeyEnv)) };
}

const ofRole = (role: ModelRole, name: string) => [`${role.toUpperCase()}_${name}`, name];

/** The variables that may say where a provider is called, the first that is set counts. */
export const addressVariables = (role: ModelRole): Readonly<Record<string, readonly string[]>> => ({
  compatible: ofRole(role, 'OPENAI_COMPATIBLE_BASE_URL'),
  qwen: ofRole(role, 'QWEN_CHAT_BASE_URL'),
  minimax: ['MINIMAX_BASE_URL'],
  azure: ['AZURE_OPENAI_ENDPOINT'],
});

/** The address and the key in variables of the role (`TARGET_QWEN_CHAT_BASE_URL`), else in shared ones (`QWEN_CHAT_BASE_URL`). */
function endpointFrom(written: string | undefined, family: string, context: ModelContext) {
  const { role, readKey, readSetting, placeOf } = context;
  const find = (name: string) => ofRole(role, name).find((variable) => readSetting(variable));
  const address = addressFrom(written, context, find(`${family}_BASE_URL`));
  const key = find(`${family}_API_KEY`);
  const mayGo = (variable: string) =>
    address === undefined || mayHave(address, ofRole(role, `${family}_BASE_URL`), context, placeOf(variable));
  return {
    ...(address === undefined ? {} : { baseURL: address.url }),
    ...(key === undefined || !mayGo(key) ? {} : readKey(key)),
  };
}

/** As it is called. A name with a slash in it is another host. */
const azureHost = (resource: string) => `https://${resource}.openai.azure.com`;

function azureResource(context: ModelContext): Address | undefined {
  const found = addressFrom(undefined, context, 'AZURE_RESOURCE_NAME');
  return found && { ...found, url: azureHost(found.url) };
}

function requireURL(baseURL: string | undefined, { role }: ModelContext): string {
  if (baseURL !== undefined) return baseURL;
  const expected = 'expected a URL such as http://127.0.0.1:8080/v1';
  throw new SkillError('CONFIG_INVALID', `the ${role} (compatible) needs a baseURL: ${expected}, got nothing`, {
    hint: 'Write compatible:MODEL@URL, or export OPENAI_COMPATIBLE_BASE_URL=…',
  });
}

export const providers: Readonly<Record<string, Provider>> = {
  simulated: define({
    usage: 'simulated',
    options: z.looseObject({}), // the simulated models check their own knobs
    fromText: () => ({}),
    async create(options, { role }) {
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
      throw new SkillError('CONFIG_INVALID', `the ${role} must be a model, got none`, {
        hint: 'Only the target can be none: for an environment that asks no model.',
      });
    },
  }),
  openai: define({
    usage: 'openai:MODEL',
    options: z.strictObject(openai),
    fromText: modelOnly,
    create: async (options, context) => openaiChat(withKey('openai', options, context)),
  }),
  azure: define({
    usage: 'azure:DEPLOYMENT@RESOURCE',
    options: z.strictObject({
      ...openai,
      resource: z.string().optional(),
      apiVersion: z.string().optional(),
      auth: z.enum(['key', 'entra']).optional(),
    }),
    fromText: deploymentAtResource,
    async create({ apiKeyEnv, auth, ...options }, context) {
      const { readSetting } = context;
      const found = { baseURL: readSetting('AZURE_OPENAI_ENDPOINT'), resource: readSetting('AZURE_RESOURCE_NAME') };
      const isSaid = Boolean(options.baseURL || options.resource);
      const address = isSaid
        ? addressFrom(options.baseURL || azureHost(options.resource!), context)
        : (addressFrom(undefined, context, 'AZURE_OPENAI_ENDPOINT') ?? azureResource(context));
      const credentials = await azureSignIn({ auth, apiKeyEnv, address }, context);
      return azureChat({ ...options, ...(isSaid ? {} : found), ...credentials });
    },
  }),
  anthropic: define({
    usage: 'anthropic:MODEL',
    options: z.strictObject({
      ...chat,
      thinking: z
        .union([z.enum(['adaptive', 'disabled']), z.strictObject({ budgetTokens: z.number().int().positive() })])
        .optional(),
      effort: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).optional(),
    }),
    fromText: modelOnly,
    create: async (options, context) => anthropicChat(withKey('anthropic', options, context)),
  }),
  google: define({
    usage: 'google:MODEL',
    options: z.strictObject({
      ...seeded,
      thinkingBudget: z.number().int().optional(),
      thinkingLevel: z.enum(['minimal', 'low', 'medium', 'high']).optional(),
    }),
    fromText: modelOnly,
    create: async (options, context) => googleChat(withKey('google', options, context)),
  }),
  qwen: define({
    usage: 'qwen:MODEL@URL',
    options: z.strictObject({
      ...seeded,
      temperature: chat.temperature.nullable(),
      thinkingMode: z.enum(['server_default', 'enabled', 'disabled']).optional(),
    }),
    fromText: modelAtURL,
    create: async (options, context) =>
      qwenChat({ ...endpointFrom(options.baseURL, 'QWEN_CHAT', context), ...withOptionalKey(options, context) }),
  }),
  minimax: define({
    usage: 'minimax:MODEL',
    options: z.strictObject({
      ...seeded,
      region: z.enum(['global', 'cn']).optional(),
      thinking: z.enum(['adaptive', 'disabled']).optional(),
    }),
    fromText: modelOnly,
    async create(options, context) {
      const { apiKeyEnv: _, ...others } = options;
      const variable = options.region === undefined ? 'MINIMAX_BASE_URL' : undefined;
      const address = addressFrom(options.baseURL, context, variable);
      return minimaxChat({ ...others, baseURL: address?.url, ...keyFor('minimax', options, context, address) });
    },
  }),
  compatible: define({
    usage: 'compatible:MODEL@URL',
    options: z.strictObject({
      ...seeded,
      maxTokensParameter: z.enum(['max_tokens', 'max_completion_tokens']).optional(),
      extraBody: z.record(z.string(), z.json()).optional(),
    }),
    fromText: modelAtURL,
    async create(options, context) {
      // A key in a variable belongs to the server in a variable, not to one that the project names.
      const found = options.baseURL === undefined ? endpointFrom(undefined, 'OPENAI_COMPATIBLE', context) : {};
      const whole = { ...found, ...withOptionalKey(options, context) };
      return openaiCompatible({ ...whole, baseURL: requireURL(whole.baseURL, context) });
    },
  }),
  ...Object.fromEntries(Object.values(agentClis).map(({ cli }) => [cli, agentProvider(cli)])),
};

/** An agent CLI that is installed and signed in. It needs no key. */
function agentProvider(cli: AgentCliName): Provider {
  return define({
    usage: `${cli}:MODEL`,
    options: z.strictObject({
      model: z.string().min(1).optional(),
      path: z.string().min(1).optional(),
      timeoutMs: z.number().int().positive().optional(),
      passEnv: z.array(z.string().min(1)).optional(),
    }),
    fromText: (model) => (model === '' ? {} : { model }),
    async create(options, { env: inherited, directory: project = process.cwd(), notices }) {
      const request = { cli, env: inherited, project, notices };
      // now, so that a missing CLI fails before any call
      const program = options.path === undefined ? await pinnedProgram(request) : namedProgram(options.path, request);
      return agentChat({ cli, ...options, ...program, inherited, project });
    },
  });
}

/** Whether a target is an agent with tools, not a chat model. */
export const isAgentSpec = (spec: unknown): boolean => typeof spec === 'object' && spec !== null && 'agent' in spec;

/** Whether a project says that its environment asks no model. */
export const isNoTarget = (spec: unknown): boolean =>
  spec === 'none' || isAgentSpec(spec) || (spec as { provider?: unknown } | undefined)?.provider === 'none';
