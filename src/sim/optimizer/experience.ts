import { STEP_PATTERNS } from '../../core/contracts/index.ts';
import { type Change, sayingOf } from './change.ts';
import type { OptimizerPrompt } from './read-prompt.ts';
import { readEdit, readJson } from './wire-edit.ts';

/** A step as «Earlier steps of this epoch» tells it. */
export type PastStep = {
  readonly isRejected: boolean;
  /** Topics that failed in it. */
  readonly failing: ReadonlySet<string>;
  readonly rejected: readonly Change[];
};

/** What an optimizer knows from its memories. */
export type Experience = {
  /** What was tried without success, in the words of `sayingOf`. */
  readonly tried: ReadonlySet<string>;
  readonly knowsRemarks: boolean;
  readonly knowsReference: boolean;
};

/** Sentences of the notes; an optimizer that reads one of them is warned. */
export const LESSONS = {
  remarks: 'Remarks that state no rule do not help: say how a fact is written.',
  reference: 'Rules on topics that did not fail hurt: check the reference before stating a rule.',
  rules: 'Stating the rule that the references follow helps.',
} as const;

const TRIED = /^- Tried without success: «([^»]*)»$/gm;

export function readExperience({ steps, notes }: Pick<OptimizerPrompt, 'steps' | 'notes'>): Experience {
  const rejected = readSteps(steps).flatMap((step) => step.rejected.map(sayingOf));
  return {
    tried: new Set([...rejected, ...readTried(notes)]),
    knowsRemarks: notes.includes(LESSONS.remarks),
    knowsReference: notes.includes(LESSONS.reference),
  };
}

export const readTried = (notes: string) => [...notes.matchAll(TRIED)].map(([, saying = '']) => saying);
export const writeTried = (saying: string) => `- Tried without success: «${saying}»`;

export function readSteps(steps: string): PastStep[] {
  const texts = steps.split(STEP_PATTERNS.start).filter((text) => text.startsWith('step '));
  return texts.map((text) => ({
    isRejected: STEP_PATTERNS.rejected.test(text),
    failing: new Set([...text.matchAll(STEP_PATTERNS.failurePattern)].map(([, type = '']) => type)),
    rejected: [...text.matchAll(STEP_PATTERNS.rejectedEdit)].flatMap(([, json = '']) => readTriedEdit(json)),
  }));
}

/** A suggestion is remembered with its instruction as content. */
function readTriedEdit(json: string): Change[] {
  const value = readJson(json) as { content?: unknown };
  return [...readEdit(value), ...readEdit({ instruction: value?.content })].slice(0, 1);
}
