import { z } from 'zod';
import type { ChatModel } from '../../core/model.ts';

export type ModelRole = 'target' | 'optimizer';

/** One way to name a model. A further provider is a further row of `providers`. */
export type Provider<Schema extends z.ZodType = z.ZodType> = {
  /** How it is written in one word, for messages. */
  readonly usage: string;
  readonly options: Schema;
  /** Options from what follows `provider:`. */
  fromText(text: string): Readonly<Record<string, unknown>>;
  create(options: z.output<Schema>, context: ModelContext): Promise<ChatModel>;
};

type ModelContext = {
  readonly role: ModelRole;
  /** The value of an environment variable, or an error that says how to set it. */
  readKey(variable: string): string;
};

/** Exists for inference alone: `create` gets what `options` parses to. */
const define = <Schema extends z.ZodType>(provider: Provider<Schema>) => provider as unknown as Provider;

const endpoint = {
  model: z.string().min(1),
  temperature: z.number().min(0).max(2).optional(),
  maxTokensParameter: z.enum(['max_tokens', 'max_completion_tokens']).optional(),
  sendSeed: z.boolean().optional(),
};

export const providers: Readonly<Record<string, Provider>> = {
  simulated: define({
    usage: 'simulated',
    options: z.looseObject({}), // the simulated models check their own knobs
    fromText: () => ({}),
    async create(options, { role }) {
      const { simulatedTarget, simulatedOptimizer } = await import('../../sim/index.ts');
      return role === 'target' ? simulatedTarget(options) : simulatedOptimizer(options);
    },
  }),
  openai: define({
    usage: 'openai:MODEL',
    options: z.strictObject({
      ...endpoint,
      baseURL: z.string().default('https://api.openai.com/v1'),
      apiKeyEnv: z.string().default('OPENAI_API_KEY'),
      maxTokensParameter: endpoint.maxTokensParameter.default('max_completion_tokens'),
    }),
    fromText: (model) => ({ model }),
    async create({ apiKeyEnv, ...options }, { readKey }) {
      const { openaiCompatible } = await import('../../models/index.ts');
      return openaiCompatible({ ...options, apiKey: readKey(apiKeyEnv) });
    },
  }),
  compatible: define({
    usage: 'compatible:MODEL@URL',
    options: z.strictObject({
      ...endpoint,
      baseURL: z.string('expected a URL such as http://127.0.0.1:8080/v1'),
      apiKeyEnv: z.string().optional(),
    }),
    fromText(text) {
      const at = text.lastIndexOf('@http');
      return at === -1 ? { model: text } : { model: text.slice(0, at), baseURL: text.slice(at + 1) };
    },
    async create({ apiKeyEnv, ...options }, { readKey }) {
      const { openaiCompatible } = await import('../../models/index.ts');
      return openaiCompatible({ ...options, ...(apiKeyEnv === undefined ? {} : { apiKey: readKey(apiKeyEnv) }) });
    },
  }),
};
