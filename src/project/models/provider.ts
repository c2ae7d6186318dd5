import type { z } from 'zod';
import type { ChatModel } from '../../core/contracts/index.ts';

export type ModelRole = 'target' | 'optimizer' | 'judge';

/** One way to name a model. */
export type Provider<Schema extends z.ZodType = z.ZodType> = {
  /** How it is written in one word, for messages. */
  readonly usage: string;
  readonly options: Schema;
  /** Options from what follows `provider:`. */
  fromText(text: string): Readonly<Record<string, unknown>>;
  create(options: z.output<Schema>, context: ModelContext): Promise<ChatModel>;
};

/** Is notified of what a person should know before a run begins. `Terminal` is one. */
export type Notices = { note(message: string): void; warn(message: string): void };

export type ModelContext = {
  readonly role: ModelRole;
  /** The variables of the caller, without those of a file of the project. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where the project is. */
  readonly directory: string | undefined;
  readonly notices: Notices | undefined;
  /** The value and the name of the first of these variables that is set. Throws an error that says how to set it. */
  readKey(...variables: readonly string[]): { readonly apiKey: string; readonly apiKeyVariable: string };
  /** The value of a variable that need not be set. */
  readSetting(variable: string): string | undefined;
};

/** Exists for inference alone: `create` gets what `options` parses to. */
export const define = <Schema extends z.ZodType>(provider: Provider<Schema>) => provider as unknown as Provider;
