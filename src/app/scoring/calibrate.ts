import { dirname, join } from 'node:path';
import { parseConfig } from '../../core/contracts/index.ts';
import { type RunObserver, toObservations } from '../../core/run/index.ts';
import {
  addObservations,
  type Calibration,
  calibrate,
  combineJudgements,
  type Evidence,
  type Judgement,
  noEvidence,
} from '../../core/stats/index.ts';
import { judgementsOf } from '../../judges/index.ts';
import { type Caller, type LoadedProject, resolveScoring } from '../../project/index.ts';
import type { JudgeFigures } from '../../report/index.ts';
import { openCaches } from '../../stores/index.ts';
import { evaluatePasses, withEnv } from '../../train/index.ts';
import { readSkill, wireRun, withDocument } from '../wire-run.ts';
import { countLook, requireTrueTasks, testTasksOf } from './score.ts';

export type CalibrationInput = {
  /** An absolute path; without it, the skill that training starts from. */
  readonly skill?: { readonly path: string; readonly name: string } | undefined;
  /** Without it, the one that the gate uses. */
  readonly split?: string | undefined;
  /** How often every task is attempted. One pass says nothing about noise. */
  readonly passes: number;
  /** Whether it continues with tasks from which no true number can be measured. */
  readonly isForced?: boolean | undefined;
};

export type CalibratedSkill = {
  readonly evidence: Evidence;
  readonly calibration: Calibration;
  readonly judge: JudgeFigures | undefined;
  readonly testLooks: number | undefined;
};

export type MeasureOptions = {
  readonly caller: Caller;
  readonly observers: readonly RunObserver[];
  readonly signal: AbortSignal;
};

/** A skill against itself: how much of a score is noise, and which gains its tasks can prove. */
export async function calibrateSkill(
  loaded: LoadedProject,
  { skill: named, split, passes, isForced }: CalibrationInput,
  { caller, observers, signal }: MeasureOptions,
): Promise<CalibratedSkill> {
  const given = named && (await readSkill(named.path, loaded.project));
  const wiring = await wireRun(given ? withDocument(loaded, given.file) : loaded, 'score');
  const { env, config } = wiring;
  const warn = (message: string) => caller.notices?.warn(message);
  requireTrueTasks([{ wiring }], { isForced, onWarning: warn });
  const settings = parseConfig(config);
  const skill = given?.text ?? wiring.initialSkill ?? (await env.getInitialSkill?.()) ?? '';
  const subject = { env, skill, split: split ?? settings.selectionSplit, config };
  const models = await resolveScoring(loaded, caller);
  const caches = await openCaches(join(dirname(wiring.path), '.eval'), config); // those of eval: a second look costs nothing
  try {
    const draws = [...Array(passes).keys()];
    const measured = await evaluatePasses({ ...subject, ...models, caches, observers, signal }, draws);
    const testTasks = await withEnv(env, settings, () => testTasksOf(wiring, subject.split));
    const conditions = [models.agent?.id ?? models.target.id, models.judge?.id, config.extras, passes];
    const look = { by: 'calibrate', document: named?.name ?? 'initial skill', skill, conditions } as const;
    const testLooks = await countLook(testTasks, look, wiring, warn);
    const observations = measured.flatMap(({ evaluation }) => toObservations(evaluation.scores, settings));
    const evidence = addObservations(noEvidence, observations);
    const judge = judgeFigures(measured.flatMap(({ results }, pass) => judgementsOf(results, pass)));
    return { evidence, calibration: calibrate(evidence, { confidence: settings.confidence }), judge, testLooks };
  } finally {
    caches.close();
  }
}

function judgeFigures(judgements: readonly Judgement[]): JudgeFigures | undefined {
  if (judgements.length === 0) return undefined;
  const { judgeVariance, rolloutVariance, positionBias, failedShare, missingShare } = combineJudgements(judgements);
  const deviation = (variance: number | undefined) => (variance === undefined ? null : Math.sqrt(variance));
  return {
    judgements: judgements.length,
    judgeNoise: deviation(judgeVariance),
    // Without the judge's part it would be the noise of both.
    rolloutNoise: judgeVariance === undefined ? null : deviation(rolloutVariance),
    positionBias: positionBias ?? null,
    failedShare,
    unjudgedShare: missingShare,
  };
}
