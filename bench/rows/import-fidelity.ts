import { meetsEvals } from '../../test/support/imports/evals-fidelity.ts';
import { evalsExpectations, promptfooExpectations } from '../../test/support/imports/import-corpus.ts';
import { meets } from '../../test/support/imports/promptfoo-fidelity.ts';
import type { BenchRow } from '../row.ts';

/** Expectations that were written from the formats' own documentation before there was an importer. */
export const importFidelity: BenchRow = {
  name: 'import-fidelity',
  what: 'expectations of promptfoo configs and files of evals: met, named as not carried, wrong',
  goal: '0 wrong',
  async run(say) {
    const promptfoo = countOutcomes(await Promise.all(promptfooExpectations().map(meets)));
    const evals = countOutcomes(await Promise.all(evalsExpectations().map(meetsEvals)));
    for (const text of [...promptfoo.problems, ...evals.problems]) say(text);
    return {
      measured: `promptfoo ${inWords(promptfoo)}; evals ${inWords(evals)}`,
      holds: promptfoo.problems.length + evals.problems.length === 0,
      figures: {
        promptfooMet: promptfoo.met,
        promptfooNamed: promptfoo.named,
        promptfooWrong: promptfoo.problems.length,
        evalsMet: evals.met,
        evalsNamed: evals.named,
        evalsWrong: evals.problems.length,
      },
    };
  },
};

type Outcomes = { readonly met: number; readonly named: number; readonly problems: readonly string[] };

function countOutcomes(outcomes: readonly string[]): Outcomes {
  const count = (kind: string) => outcomes.filter((outcome) => outcome === kind).length;
  const problems = outcomes.filter((outcome) => outcome !== 'met' && outcome !== 'named');
  return { met: count('met'), named: count('named'), problems };
}

const inWords = ({ met, named, problems }: Outcomes) => `${met} met, ${named} named, ${problems.length} wrong`;
