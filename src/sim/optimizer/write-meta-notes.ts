import { type Change, sayingOf, topicOf } from './change.ts';
import { LESSONS, type PastStep, readSteps, readTried, writeTried } from './experience.ts';
import { readComparison } from './read-comparison.ts';
import type { OptimizerPrompt } from './read-prompt.ts';
import { linesBeyond } from './whole-version.ts';

const MOST_TRIED = 8;

/**
 * The reply to the call for the optimizer's memory: which kinds of edits helped or hurt, as the comparison and the rejected
 * edits of the epoch show, and what was tried without success. The memory so far is carried forward.
 */
export function writeMetaNotes(prompt: OptimizerPrompt): object {
  const { notes, comparison, steps } = prompt;
  const { regressed, persistent, improved } = readComparison(comparison);
  const past = readSteps(steps);
  const rejected = past.flatMap((step) => step.rejected);
  const isRemark = (change: Change) => change.op !== 'delete' && topicOf(change) === undefined;
  const shown = {
    remarks: persistent.length > 0 && (addsRemarks(prompt) || rejected.some(isRemark)),
    reference: regressed.length > 0 || past.some((step) => guessesOf(step).length > 0),
    rules: improved.length > 0,
  };
  const lessons = (Object.keys(LESSONS) as (keyof typeof LESSONS)[]).flatMap((name) =>
    shown[name] || notes.includes(LESSONS[name]) ? [`- ${LESSONS[name]}`] : [],
  );
  const vain = [
    ...readTried(notes),
    ...past.flatMap(guessesOf).map(sayingOf),
    ...rejected.filter(isRemark).map(sayingOf),
  ];
  return {
    reasoning: `${improved.length} tasks got better and ${regressed.length} worse; ${rejected.length} edits were rejected.`,
    meta_skill_content: [...lessons, ...[...new Set(vain)].slice(-MOST_TRIED).map(writeTried)].join('\n'),
  };
}

/** Rejected rules on topics that had not failed: nothing but a guess can have led to them. */
function guessesOf({ rejected, failing }: PastStep): Change[] {
  return rejected.filter((change) => {
    const topic = topicOf(change);
    return topic !== undefined && !failing.has(topic);
  });
}

/** Whether the epoch has put lines into the skill that state no rule. */
function addsRemarks({ skill, previousSkill }: OptimizerPrompt): boolean {
  const added = linesBeyond(skill, previousSkill).filter((line) => line.startsWith('- '));
  return added.some((content) => topicOf({ op: 'append', target: '', content }) === undefined);
}
