import { simulatedPerson } from '../../../src/public/sim.ts';
import type { Blocks, DocumentName, NamedRunner, NightPerson, NightState } from './runner.ts';
import { RUNNERS } from './runners.ts';

export type MonthInput = {
  readonly runner: string;
  readonly usefulness: 'learnable' | 'nothing-helps';
  readonly seed: number;
  readonly nights: number;
};

export type Month = {
  /** Nights on which something was staged. */
  readonly stagings: number;
  /** Of what the true rules would gain, how much was gained in truth by the last night. */
  readonly share: number;
  /** Reported gain minus the true one, of each night that reported one. */
  readonly errors: readonly number[];
  readonly calls: number;
};

const DOCUMENTS: readonly DocumentName[] = ['skill', 'memory'];

/** A month of a person: what is staged at night is adopted in the morning. */
export async function playMonth({ runner, usefulness, seed, nights }: MonthInput): Promise<Month> {
  const person = simulatedPerson({ seed, usefulness });
  const named = RUNNERS[runner]!;
  let state: NightState = { blocks: { skill: '', memory: '' }, kept: undefined };
  let [stagings, calls] = [0, 0];
  const errors: number[] = [];
  for (let day = 1; day <= nights; day++) {
    const { staged, kept, ...night } = await named.run({ person, day, state, documents: DOCUMENTS, seed });
    const blocks = { ...state.blocks, ...Object.fromEntries(staged.map(({ document, block }) => [document, block])) };
    const gains = staged.flatMap(({ gain }) => gain ?? []);
    if (gains.length > 0) errors.push(sumOf(gains) - trueGain(person, named, state.blocks, blocks));
    stagings += staged.length > 0 ? 1 : 0;
    calls += night.calls;
    state = { blocks, kept };
  }
  const start = person.trueScore('', '');
  const most = person.bestScore() - start;
  const gained = person.trueScore(state.blocks.skill, state.blocks.memory) - start;
  return { stagings, share: most === 0 ? 0 : gained / most, errors, calls };
}

const sumOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);

/** In the runner's own measure. */
function trueGain(person: NightPerson, { measure }: NamedRunner, before: Blocks, after: Blocks): number {
  const scoreOf = ({ skill, memory }: Blocks) => person.trueScore(skill, memory, { measure });
  return scoreOf(after) - scoreOf(before);
}
