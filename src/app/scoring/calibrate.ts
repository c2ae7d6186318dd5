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
import { readSkill, type Wiring, wireRun, withDocument } from '../wire-run.ts';
import { countLook, testTasksOf } from './score.ts';

export type CalibrationInput = {
  /** An absolute path; without it, the skill that training starts from. */
  readonly skill?: { readonly path: string; readonly name: string } | undefined;
  /** Without it, the one that the gate uses. */
  readonly split?: string | undefined;
  /** How often every task is attempted. One pass says nothing about noise. */
  readonly passes: number;
};

export type CalibratedSkill = {
  readonly evidence: Evidence;
  readonly calibration: Calibration;
  /** Undefined if no judge was asked. */
  readonly judge: JudgeFigures | undefined;
  readonly testLooks: number | undefined;
};

/** A skill against itself: how much of a score is noise, and which gains its tasks can prove. */
export async function calibrateSkill(
  loaded: LoadedProject,
  { skill, split, passes }: CalibrationInput,
  options: MeasureOptions,
): Promise<CalibratedSkill> {
  const given = skill && (await readSkill(skill.path, loaded.project));
  const wiring = await wireRun(given ? withDocument(loaded, given.file) : loaded);
  for (const warning of [...wiring.warnings, ...(wiring.env.warnings ?? [])]) options.caller.notices?.warn(warning);
  const settings = parseConfig(wiring.config);
  const text = given?.text ?? wiring.initialSkill ?? (await wiring.env.getInitialSkill?.()) ?? '';
  const { name = 'initial skill' } = skill ?? {};
  const subject = { loaded, wiring, name, skill: text, split: split ?? settings.selectionSplit, passes };
  const { measured, testLooks } = await measurePasses(subject, options);
  const observations = measured.flatMap(({ evaluation }) => toObservations(evaluation.scores, settings));
  const evidence = addObservations(noEvidence, observations);
  const judge = judgeFigures(measured.flatMap(({ results }, pass) => judgementsOf(results, pass)));
  return { evidence, calibration: calibrate(evidence, { confidence: settings.confidence }), judge, testLooks };
}

type MeasuredSubject = {
  readonly loaded: LoadedProject;
  readonly wiring: Wiring;
  /** The name of the document in the ledger of looks at test tasks. */
  readonly name: string;
  readonly skill: string;
  readonly split: string;
  readonly passes: number;
};

export type MeasureOptions = {
  readonly caller: Caller;
  readonly observers: readonly RunObserver[];
  readonly signal: AbortSignal;
};

/** One pass of a skill after the other. Replies are kept beside those of eval, so that a second look costs nothing. */
async function measurePasses(
  { loaded, wiring, name, skill, split, passes }: MeasuredSubject,
  { caller, observers, signal }: MeasureOptions,
) {
  const { target, judge, agent } = await resolveScoring(loaded, caller);
  const { env, config } = wiring;
  const caches = await openCaches(join(dirname(wiring.path), '.eval'), config);
  try {
    const options = { env, skill, split, target, judge, agent, config, caches, observers, signal };
    const measured = await evaluatePasses(options, [...Array(passes).keys()]);
    const testTasks = await withEnv(env, parseConfig(config), () => testTasksOf(wiring, split));
    const conditions = [agent?.id ?? target.id, judge?.id, config.extras, passes];
    const look = { by: 'calibrate', document: name, skill, conditions } as const;
    const testLooks = await countLook(testTasks, look, wiring, (message) => caller.notices?.warn(message));
    return { measured, testLooks };
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
