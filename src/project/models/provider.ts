import type { z } from 'zod';
import type { ChatModel } from '../../core/contracts/index.ts';

export type ModelRole = 'target' | 'optimizer' | 'judge';

export type Environment = Readonly<Record<string, string | undefined>>;

/** `openai:MODEL`, or a block with a `provider` and its options. */
export type ModelSpec = string | Readonly<Record<string, unknown>>;

export type Provider<Schema extends z.ZodType = z.ZodType> = {
  readonly usage: string;
  readonly options: Schema;
  /** Reads the options from the text after `provider:`. */
  fromText(text: string): Readonly<Record<string, unknown>>;
  create(options: z.output<Schema>, context: ModelContext): Promise<ChatModel>;
};

/** Is notified of what a person should know before a run begins. */
export type Notices = { note(message: string): void; warn(message: string): void };

/** Who says something: the person, in a flag, the shell or settings of their own; the file `.env`; or another file of the project. */
export type Place = 'person' | '.env' | 'project';

export type ModelContext = {
  readonly role: ModelRole;
  /** Who names the model, and with it an address. */
  readonly specPlace: Place;
  /** The variables of the caller, without those of the project's `.env`. */
  readonly env: Environment;
  readonly directory: string | undefined;
  readonly notices: Notices | undefined;
  /** The first of these variables that is set. Throws if none is. */
  readKey(...variables: readonly string[]): { readonly apiKey: string; readonly apiKeyVariable: string };
  readSetting(variable: string): string | undefined;
  /** Where `readSetting` finds a variable. */
  placeOf(variable: string): Place;
};

/** Only for inference: `create` gets the output of `options`. */
export const define = <Schema extends z.ZodType>(provider: Provider<Schema>) => provider as unknown as Provider;
