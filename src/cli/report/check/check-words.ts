import type { CheckKind, SideComparison, SkillCheck } from '../../../app/index.ts';
import { change, costWords, METRICS, span } from '../../../core/run/index.ts';
import { percent, plural } from '../../../core/text/index.ts';

export type Sentence = { readonly head: string; readonly text: string };

/** Whose tasks: `test`, or those of all splits. */
export type Tasks = { readonly split: string; readonly count: number };

const ALL = 'all';

/** `36 test tasks`. */
export const tasksText = ({ split, count }: Tasks) =>
  split === ALL ? `${plural(count, 'task')} of all splits` : plural(count, `${split} task`);

const HEADS: Readonly<Record<CheckKind, string>> = {
  'not-measured': 'Not measured',
  worse: 'Worse',
  'below-bar': 'Below the bar',
  better: 'Better',
  'not-proven': 'Not proven worse',
  'no-change': 'No change',
  scored: 'Scored',
};

/** What a check came to, the most important first. */
export function checkSentences(check: SkillCheck, tasks: Tasks, baseline: string | undefined): Sentence[] {
  const { kind, against, minScore, isBelowBar, unmeasured } = check;
  if (unmeasured) return [{ head: HEADS[kind], text: `${unmeasured.message.replace(/\.$/, '')}.` }];
  const compared = against && [compareSentence(against, tasks, baseline ?? '')];
  const bar = minScore === undefined ? [] : [barSentence(check, tasks)];
  if (!compared && bar.length === 0) return [{ head: HEADS.scored, text: `${scoreText(check, tasks)}.` }];
  return isBelowBar && kind !== 'worse' ? [...bar, ...(compared ?? [])] : [...(compared ?? []), ...bar];
}

const scoreText = ({ score, metric }: Pick<SkillCheck, 'score' | 'metric'>, tasks: Tasks) =>
  `${percent(score)}${METRICS[metric]} on ${tasksText(tasks)}`;

function barSentence(check: SkillCheck, tasks: Tasks): Sentence {
  const wanted = `${percent(check.minScore)} ${check.isBelowBar ? 'are wanted' : 'were wanted'}`;
  const head = check.isBelowBar ? HEADS['below-bar'] : 'At or above the bar';
  return { head, text: `${scoreText(check, tasks)}, ${wanted}.` };
}

function compareSentence({ kind, metric, comparison }: SideComparison, tasks: Tasks, baseline: string): Sentence {
  const head = HEADS[kind];
  if (!comparison) return { head, text: 'no task has a score under both skills.' };
  const on = `on ${tasksText({ ...tasks, count: comparison.tasks })}`;
  if (kind === 'no-change')
    return { head, text: `it is the same as ${baseline}, ${percent(comparison.after)}${METRICS[metric]} ${on}.` };
  const figures = `${change(comparison)}${METRICS[metric]} ${on}`;
  const sureness = kind === 'not-proven' ? '' : ', proven';
  const { gain } = comparison;
  return { head, text: `${figures}${sureness}, ${span({ gain })} against ${baseline}.` };
}

/** `64 calls, $0.02.` */
export const costSentence = ({ cost }: Pick<SkillCheck, 'cost'>) =>
  `${plural(cost.calls, 'call')}, ${costWords(cost)}.`;
