import type { RunWords } from '../core/page/index.ts';
import { type RunState, type VerdictOptions, verdictOf } from '../core/run/index.ts';
import { skillChange } from './changes.ts';
import { chosenByWords, nextStep, type RunPlace, verdictWords } from './verdict-words.ts';

/** What a run came to as sentences, as the terminal says it, and what to do next. */
export function runWords(state: RunState, standing: VerdictOptions, place: RunPlace): RunWords {
  const verdict = verdictOf(state, standing);
  const words = verdictWords(verdict, state, skillChange(state.initialSkill, state.best.skill, state.config));
  const [command, why] = nextStep(verdict, state, place);
  return { ...words, chosenBy: chosenByWords(verdict) ?? null, next: { command, why } };
}
