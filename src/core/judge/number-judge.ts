import type { RolloutOutput } from '../env.ts';
import type { TaskScorer } from './task-judge.ts';

const NUMBER = /[-+−]?(?:\d{1,3}(?:,\d{3})+(?![\d,])|\d+)(?:\.\d+)?(?:[eE][-+]?\d{1,3})?|[-+−]?\.\d+/g;

/** Every number in a text as people write them: with a sign, with commas between thousands, with an exponent. */
function numbersIn(text: string): number[] {
  return Array.from(text.matchAll(NUMBER), ([found]) => toNumber(found)).filter(Number.isFinite);
}

const toNumber = (found: string) => Number(found.replaceAll(',', '').replace('−', '-'));

/** A text that is one number, perhaps with a unit or a currency around it. */
export function readNumber(text: string): number | undefined {
  const [first, second] = numbersIn(text);
  return second === undefined ? first : undefined;
}

/** Built into every environment that takes task judges. */
export const numberJudge: TaskScorer<'number'> = {
  kind: 'number',
  version: '1',
  score({ judge, answer }): RolloutOutput {
    const { reference, which, tolerance, relativeTolerance } = judge;
    const given = numbersIn(answer).at(which === 'first' ? 0 : -1);
    if (given === undefined) return { hard: 0, soft: 0, failReason: 'no number: the answer holds none' };
    const isNear = reference.some((wanted) => {
      // A hair wider than said, since 0.1 + 0.2 is not 0.3.
      const allowed = Math.max(tolerance, relativeTolerance * Math.abs(wanted)) + 1e-9 * Math.abs(wanted);
      return Math.abs(given - wanted) <= allowed;
    });
    if (isNear) return { hard: 1, soft: 1 };
    return { hard: 0, soft: 0, failReason: `wrong number: expected ${reference.join(' or ')}, got ${given}` };
  },
};
