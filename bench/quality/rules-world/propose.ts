import type { Draw } from '../../../src/sim/draw.ts';
import { append, inMode } from '../../../src/sim/optimizer/edits.ts';
import { readExperience } from '../../../src/sim/optimizer/propose-changes.ts';
import type { OptimizerPrompt } from '../../../src/sim/optimizer/read-prompt.ts';
import { harmfulSentence, readNeeds, readSkill, remark, ruleInOtherWords, ruleSentence } from './sentences.ts';

/** How good an analyst is: chances per edit. */
export type Habits = {
  /** A sentence that spoils. */
  readonly harm: number;
  /** Of the others: the rule that was missing. The rest are remarks. */
  readonly precision: number;
  /** Whether a rule is said in the same words each time. */
  readonly wording: 'fixed' | 'new';
  /** Whether a sentence that it was shown as rejected is thought over. */
  readonly learns: boolean;
};

const REMARKS = 1_000_000;
const HARMS = 1_000;
const PRAISE = 0.3;

type Failure = { readonly id: string; readonly needs: readonly string[] };
type Gap = { readonly word: string; readonly ids: readonly string[] };

/** The reply of an analyst of failures: an edit for each rule that is missing, the most frequent ones first. */
export function readFailures(prompt: OptimizerPrompt, habits: Habits, draw: Draw): object {
  const { mode, skill, trajectories, limit } = prompt;
  const gaps = findGaps(trajectories.map(readFailure), readSkill(skill).stated);
  const tried = habits.learns ? readExperience(prompt).tried : new Set<string>();
  const edits = gaps.slice(0, limit).map(({ word, ids }) => {
    return { ...append(proposeSentence(word, habits, tried, draw)), support_count: ids.length };
  });
  return {
    batch_size: trajectories.length,
    failure_summary: gaps.map(summarize),
    patch: { reasoning: 'The skill does not say what these jobs call for.', ...inMode(mode, skill, edits) },
  };
}

function readFailure(block: string): Failure {
  return { id: block.match(/^id: (.*)$/m)?.[1] ?? '', needs: readNeeds(block) };
}

function findGaps(failures: readonly Failure[], stated: ReadonlySet<string>): Gap[] {
  const words = new Set(failures.flatMap(({ needs }) => needs).filter((word) => !stated.has(word)));
  const gaps = [...words].map((word) => {
    return { word, ids: failures.filter(({ needs }) => needs.includes(word)).map(({ id }) => id) };
  });
  return gaps.sort((a, b) => b.ids.length - a.ids.length);
}

function summarize({ word, ids }: Gap): object {
  return { failure_type: `lacks ${word}`, count: ids.length, description: '', task_ids: ids };
}

/** What was tried in vain is drawn again, twice at most; then the evidence is all that is left. */
function proposeSentence(word: string, habits: Habits, tried: ReadonlySet<string>, draw: Draw): string {
  for (const time of [1, 2, 3]) {
    const sentence = drawSentence(word, habits, (label) => draw(`${word}, time ${time}: ${label}`));
    if (!tried.has(sentence)) return sentence;
  }
  return stateAnew(word, (label) => draw(`${word}, at last: ${label}`));
}

function drawSentence(word: string, { harm, precision, wording }: Habits, draw: Draw): string {
  if (draw('harm') < harm) return harmfulSentence(Math.floor(HARMS * draw('which harm')));
  if (draw('precision') >= precision) return drawRemark(draw);
  return wording === 'new' ? stateAnew(word, draw) : ruleSentence(word);
}

const stateAnew = (word: string, draw: Draw) => ruleInOtherWords(word, Math.floor(REMARKS * draw('practice')));
const drawRemark = (draw: Draw) => remark(Math.floor(REMARKS * draw('which remark')));

/** The reply of an analyst of successes: seldom an edit, and then a remark. */
export function readSuccesses({ mode, skill, trajectories, limit }: OptimizerPrompt, _: Habits, draw: Draw): object {
  const edits = draw('praise') < PRAISE ? [append(drawRemark(draw))] : [];
  return {
    batch_size: trajectories.length,
    success_patterns: [],
    patch: { reasoning: 'What works is left alone.', ...inMode(mode, skill, edits.slice(0, limit)) },
  };
}
