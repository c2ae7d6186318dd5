import { jsonrepair } from 'jsonrepair';
import { z } from 'zod';
import type { ChatMessage, ChatModel, ChatReply, PromptName } from '../../core/contracts/index.ts';
import { extractJson, jsonCandidates, parseJson, toCamelCase } from '../../core/text/index.ts';
import type { StageDeps } from '../stage-deps.ts';

type Question<Schema extends z.ZodType> = {
  readonly prompt: PromptName;
  /** A prompt that is added to it. */
  readonly suffix?: PromptName | undefined;
  readonly stage: OptimizerStage;
  readonly user: string;
  readonly schema: Schema;
  /** Which draw: another index gives another answer. */
  readonly sampleIndex?: number | undefined;
  /** Longest reply, in tokens, when it is not the usual. */
  readonly maxOutputTokens?: number | undefined;
};

/** What the optimizer is asked for, as usage is counted. */
export type OptimizerStage =
  | 'analyst'
  | 'merge'
  | 'ranking'
  | 'lr_autonomous'
  | 'rewrite'
  | 'slow_update'
  | 'meta_skill'
  | 'appendix_consolidate';

/**
 * Asks the optimizer for JSON of `schema`. After a reply that does not fit, it is asked once more with the error; `undefined` if
 * that does not fit either: the stage has a fallback. A model out of reach still throws.
 */
export async function ask<Schema extends z.ZodType>(
  { prompt, suffix, user, maxOutputTokens, ...question }: Question<Schema>,
  { optimizer, prompts, optimizerMaxCompletionTokens, stop, onAnswer }: StageDeps,
): Promise<z.output<Schema> | undefined> {
  const system = suffix ? `${prompts[prompt]}\n${prompts[suffix]}` : prompts[prompt];
  return askForJson(
    { ...question, system, user, maxOutputTokens: maxOutputTokens ?? optimizerMaxCompletionTokens },
    { model: optimizer, stop, onAnswer: (reply, isUsable) => onAnswer(question.stage, isUsable ? undefined : reply) },
  );
}

/** The same in a slot of its own, for a stage that holds none. */
export const askInSlot = <Schema extends z.ZodType>(question: Question<Schema>, deps: StageDeps) =>
  deps.limit.run(() => ask(question, deps));

type JsonQuestion<Schema extends z.ZodType> = Pick<Question<Schema>, 'user' | 'schema' | 'sampleIndex'> & {
  readonly system: string;
  readonly stage: string;
  readonly maxOutputTokens: number;
  /** Whether a reply that does not fit is not cached: for questions that later runs ask again. */
  readonly isAskedAgain?: boolean | undefined;
};

type JsonDeps = Pick<StageDeps, 'stop'> & {
  readonly model: ChatModel;
  /** Every reply, as it is described to people. */
  readonly onAnswer?: (reply: string, isUsable: boolean) => void;
};

/** The same for any model, with any system prompt. */
export async function askForJson<Schema extends z.ZodType>(
  { system, user, stage, schema, maxOutputTokens, sampleIndex = 0, isAskedAgain = false }: JsonQuestion<Schema>,
  { model, stop, onAnswer }: JsonDeps,
): Promise<z.output<Schema> | undefined> {
  const messages: ChatMessage[] = [
    { role: 'system', content: system },
    { role: 'user', content: user },
  ];
  for (let attempt = 0; attempt < 2; attempt++) {
    stop.signal.throwIfAborted();
    const isUsable = (one: ChatReply) => parseReply(schema, one).success;
    const question = { messages: [...messages], stage, schema, sampleIndex, maxOutputTokens };
    const reply = await model.complete({ ...question, ...(isAskedAgain ? { isUsable } : {}), signal: stop.abandon });
    const parsed = parseReply(schema, reply);
    onAnswer?.(describe(reply), parsed.success);
    if (parsed.success) return parsed.data;
    const content = reply.text.trim() === '' ? '(no text)' : reply.text; // providers refuse an empty turn
    messages.push({ role: 'assistant', content }, { role: 'user', content: complain(reply, parsed.error) });
  }
  return undefined;
}

const describe = ({ text, finishReason }: ChatReply) =>
  finishReason === 'length' ? `(cut off by the length limit) ${text}` : text;

function parseReply<Schema extends z.ZodType>(schema: Schema, reply: ChatReply) {
  return schema.safeParse(toCamelCase(extractJson(reply.text) ?? repair(reply)));
}

/** Slips such as a missing quote are repaired. A reply that was cut off is not: half a patch is another patch. */
function repair({ text, finishReason }: ChatReply): unknown {
  return finishReason === 'length' || finishReason === 'content-filter' ? undefined : repairJson(text);
}

export function repairJson(text: string): unknown {
  for (const candidate of jsonCandidates(text).reverse()) {
    const value = candidate.startsWith('{') ? parseJson(repaired(candidate)) : undefined;
    if (value !== undefined) return value;
  }
  return undefined;
}

/** Repairing takes time that grows with the square of the length. */
const MAX_REPAIRED_LENGTH = 32_000;

function repaired(text: string): string {
  try {
    return text.length <= MAX_REPAIRED_LENGTH ? jsonrepair(text) : '';
  } catch {
    return ''; // beyond repair
  }
}

function complain(reply: ChatReply, error: z.ZodError): string {
  const problem =
    reply.finishReason === 'length'
      ? 'It was cut off by the length limit. Answer again, shorter.'
      : z.prettifyError(error).replaceAll('→ at', 'at');
  return `That reply cannot be used:\n${problem}\nAnswer with the JSON object alone, as described above.`;
}
