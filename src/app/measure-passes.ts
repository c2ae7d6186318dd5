import { dirname, join } from 'node:path';
import { parseConfig } from '../core/contracts/index.ts';
import type { RunObserver } from '../core/run/index.ts';
import { type Caller, type LoadedProject, resolveScoring } from '../project/index.ts';
import { openCaches } from '../stores/index.ts';
import { evaluatePasses, type SkillScore, withEnv } from '../train/index.ts';
import { countLook, testTasksOf } from './count-look.ts';
import type { Wiring } from './wire-run.ts';

export type MeasuredSubject = {
  readonly loaded: LoadedProject;
  readonly wiring: Wiring;
  /** What the document is called in the ledger of looks at test tasks. */
  readonly name: string;
  readonly skill: string;
  readonly split: string;
  /** How often every task is attempted. */
  readonly passes: number;
};

type MeasureOptions = {
  readonly caller: Caller;
  readonly observers: readonly RunObserver[];
  readonly signal: AbortSignal;
  readonly onWarning: (message: string) => void;
};

export type Measured = { readonly measured: readonly SkillScore[]; readonly testLooks: number | undefined };

/** One pass of a skill after the other; replies are kept beside those of eval, so that a second look costs nothing. */
export async function measurePasses(
  { loaded, wiring, name, skill, split, passes }: MeasuredSubject,
  { caller, observers, signal, onWarning }: MeasureOptions,
): Promise<Measured> {
  const { target, judge, agent } = await resolveScoring(loaded, caller);
  const { env, config } = wiring;
  const caches = await openCaches(join(dirname(wiring.path), '.eval'), config);
  try {
    const options = { env, skill, split, target, judge, agent, config, caches, observers, signal };
    const measured = await evaluatePasses(options, [...Array(passes).keys()]);
    const testTasks = await withEnv(env, parseConfig(config), () => testTasksOf(wiring, split));
    const conditions = [agent?.id ?? target.id, judge?.id, config.extras, passes];
    const look = { by: 'calibrate', document: name, skill, conditions } as const;
    return { measured, testLooks: await countLook(testTasks, look, wiring, onWarning) };
  } finally {
    caches.close();
  }
}
