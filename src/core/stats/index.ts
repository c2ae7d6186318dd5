/** The statistics of the gate: pure functions over data, for the trainer, for a browser, and for anyone who wants to check a decision. */

export {
  findLeaks,
  type GuardedItem,
  type LeakFinding,
  type LeakInput,
  type LeakReport,
} from '../leaks/leak-critic.ts';
export { type Calibration, type CalibrationOptions, calibrate, type FlakyItem, type Needs } from './calibration.ts';
export { normalCdf, normalQuantile, tCdf, tQuantile } from './distributions.ts';
/** What a night may claim, and how the error is spent over nights. */
export { nextError, type TestedNight, TOTAL_ERROR } from './error-spending.ts';
export {
  addObservations,
  type Evidence,
  type ItemEvidence,
  isBinary,
  isMissing,
  itemMean,
  MAX_MISSING_SHARE,
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
export {
  type Estimate,
  estimateGain,
  estimateScore,
  type FinalInput,
  type FinalReport,
  finalReport,
  type Interval,
} from './final-report.ts';
export {
  judgeWave,
  type Movement,
  settingsFor,
  type Verdict,
  type WaveInput,
  type WaveJudgement,
} from './gate.ts';
export { combineJudgements, type JudgedScore, type Judgement, type JudgeNoise } from './judge-noise.ts';
export {
  addOwn,
  believedScore,
  disputedItems,
  type Inherited,
  inherit,
  type Knowledge,
  knownOf,
  noKnowledge,
  unmetItems,
  type WeighedKnowledge,
  type WeighInput,
  weigh,
} from './knowledge.ts';
export { gainElsewhere, judgeProof, type NightProof, PROOF_LOOKS, proveGain } from './night-proof.ts';
export { estimateNoise, type NoiseInput, type NoiseModel, type ScoreKind } from './noise-model.ts';
export {
  type Bar,
  barFor,
  planWaves,
  type RaceSettings,
  raceOrder,
  raceSettings,
  type SettingsInput,
} from './race-settings.ts';
export { type Flip, type FlipInput, findFlips, regressionVeto, type Veto, type VetoInput } from './regression-veto.ts';
export { type Weighed, type WeighedItem, weighCandidate } from './weigh-candidate.ts';
