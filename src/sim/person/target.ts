import type { ChatModel } from '../../core/contracts/index.ts';
import { memoize } from '../../core/text/index.ts';
import { createSimulatedModel, textOf } from '../simulated-model.ts';
import { attempt, writeAnswer } from './answer.ts';
import { type Advice, readAdvice } from './documents.ts';
import { type Kind, kindIn } from './kind.ts';

type TargetOptions = {
  readonly seed: number;
  readonly kinds: readonly Kind[];
  /** Whether it does what documents say. */
  readonly isDeaf: boolean;
};

export const NO_ADVICE: Advice = { stated: new Set(), harms: new Set() };

/** Texts whose reading is kept: one document is asked about many tasks. */
const KEPT_TEXTS = 128;

/** The person's agent, frozen: it follows the rules that it finds in its prompt, not always, and knows no others. */
export function personTarget({ seed, kinds, isDeaf }: TargetOptions): ChatModel {
  const things = kinds.flatMap((kind) => kind.things);
  const adviceIn = memoize((text: string) => readAdvice(text, things), { maxEntries: KEPT_TEXTS });
  return createSimulatedModel({
    id: `sim-person-target/1 seed=${seed} things=${things.length}${isDeaf ? ' deaf' : ''}`,
    seed,
    latencyMs: 0,
    failureRate: 0,
    answer({ messages }, draw) {
      const [system, user] = [textOf(messages, 'system'), textOf(messages, 'user')];
      const kind = kindIn(user, kinds);
      if (!kind) return writeAnswer({ kept: [], missed: [], isThin: false }, draw);
      const advice = isDeaf ? NO_ADVICE : both(adviceIn(system), adviceIn(user));
      return writeAnswer(attempt(kind, advice, draw), draw);
    },
  });
}

/** A prompt may hold the documents in either part. */
const both = (one: Advice, other: Advice): Advice => ({
  stated: new Set([...one.stated, ...other.stated]),
  harms: new Set([...one.harms, ...other.harms]),
});
