import type { SessionDigest } from '../../transcripts/index.ts';
import { short, withoutQuotes } from './task-text.ts';

/** All that a miner model sees of a session: requests, the last answer, feedback. No name, no path, no tool, nothing quoted. */
export type SessionExcerpt = {
  readonly requests: readonly string[];
  readonly answer: string;
  readonly feedback: readonly string[];
};

/** The one place that decides it: the plan that a person reads, and the prompt, are both made from this. */
export function excerptOf({ userPrompts, assistantFinals, feedbackSignals }: SessionDigest): SessionExcerpt {
  return {
    requests: userPrompts.slice(0, 6).map((text) => short(withoutQuotes(text), 240)),
    answer: short(withoutQuotes(assistantFinals.at(-1) ?? ''), 400),
    feedback: feedbackSignals.slice(0, 6).map((signal) => short(signal, 80)),
  };
}
