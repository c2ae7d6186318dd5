import { SkillError } from '../../core/errors.ts';
import type { RunEvent } from '../../core/event.ts';
import { emptyRun } from '../../core/run-state.ts';
import { reduce } from '../../core/state.ts';

/** The text of `initial`, `best`, `current`, or of the skill after a step (`3`, `v0003`), as the journal tells it. */
export function findVersion(events: readonly RunEvent[], name: string): string {
  const state = events.reduce(reduce, emptyRun);
  const named: Readonly<Record<string, string>> = {
    initial: state.initialSkill,
    best: state.best.skill,
    current: state.current.skill,
  };
  const text = Object.hasOwn(named, name) ? named[name] : afterStep(events, name);
  if (text !== undefined) return text;
  throw new SkillError(
    'USAGE',
    `no version ${name}: initial, best, current or a step from 0 to ${state.stepsDone} was expected`,
    {
      hint: 'For example: skillopt diff RUN initial best, or skillopt diff RUN 2 3',
    },
  );
}

function afterStep(events: readonly RunEvent[], name: string): string | undefined {
  const step = /^v?\d+$/.test(name) ? Number(name.replace('v', '')) : undefined;
  if (step === 0) return events.reduce(reduce, emptyRun).initialSkill;
  const end = events.findIndex((event) => event.type === 'step-end' && event.step === step);
  return end === -1 ? undefined : events.slice(0, end + 1).reduce(reduce, emptyRun).current.skill;
}
