import { SkillError } from '../core/contracts/index.ts';
import type { RunEvent, RunState } from '../core/run/index.ts';

/** Finds versions of a skill by name while a journal is read: `initial`, `best`, `current`, or after a step (`3`, `v0003`). */
export function versionFinder(names: readonly string[]) {
  const wanted = new Set(names.map(stepOf));
  const afterStep = new Map<number | undefined, string>();
  const watch = (event: RunEvent, { current }: RunState): void => {
    const isFound = event.type === 'step-end' && wanted.has(event.step) && !afterStep.has(event.step);
    if (isFound) afterStep.set(event.step, current.skill);
  };
  return {
    /** Told of each event and the state after it. None, when the last state knows all that is asked for. */
    watch: names.some(stepOf) ? watch : undefined, // step 0 is the initial one
    find(name: string, { initialSkill: initial, best, current, stepsDone }: RunState): string {
      const named: Readonly<Record<string, string>> = { initial, best: best.skill, current: current.skill };
      if (Object.hasOwn(named, name)) return named[name]!;
      const step = stepOf(name);
      const text = step === 0 ? initial : afterStep.get(step);
      if (step !== undefined && text !== undefined) return text;
      throw noVersion(name, stepsDone);
    },
  };
}

export function noVersion(name: string, stepsDone: number): SkillError {
  const message = `no version ${name}: initial, best, current or a step from 0 to ${stepsDone} was expected`;
  const hint = 'For example: skillopt diff RUN initial best, or skillopt diff RUN 2 3';
  return new SkillError('USAGE', message, { hint });
}

/** The step that a version is named by. */
export const stepOf = (name: string) => (/^v?\d+$/.test(name) ? Number(name.replace('v', '')) : undefined);
