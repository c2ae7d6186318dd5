/** The statistics of the gate: pure functions over data, for the trainer, for a browser, and for whoever doubts a decision. */
export { type Calibration, type CalibrationOptions, calibrate, type FlakyItem, type Needs } from './calibration.ts';
export { incompleteBeta, logGamma, normalCdf, normalQuantile, tCdf, tQuantile } from './distributions.ts';
export {
  addObservations,
  type Evidence,
  type ItemEvidence,
  isBinary,
  isMissing,
  itemMean,
  MAX_MISSING_SHARE,
  type MergeInput,
  mergeAccepted,
  missingShare,
  noEvidence,
  type Observation,
  pooledMean,
  type WithinItems,
  withinItems,
  withinVariance,
} from './evidence.ts';
export {
  type ExactRace,
  type ExactRaceInput,
  exactRace,
  hardestFirst,
  type StartableInput,
  startable,
} from './exact-race.ts';
export type { ScoreKind } from './expect-items.ts';
export {
  type Estimate,
  estimateGain,
  estimateScore,
  type FinalInput,
  type FinalReport,
  finalReport,
  type Interval,
} from './final-report.ts';
export { judgeWave, type Movement, type Verdict, type WaveInput, type WaveJudgement } from './gate.ts';
export { type GateSettings, gateSettings, patientSettings, planWaves, settingsFor } from './gate-settings.ts';
export { combineJudgements, type JudgedScore, type Judgement, type JudgeNoise } from './judge-noise.ts';
export { findLeaks, type GuardedItem, type LeakFinding, type LeakInput, type LeakReport } from './leak-critic.ts';
export { raceOrder } from './race-order.ts';
export { type RefreshInput, refreshPlan } from './refresh-plan.ts';
export { type Flip, type FlipInput, findFlips, regressionVeto, type Veto, type VetoInput } from './regression-veto.ts';
