export { type SimulatedOptimizerOptions, simulatedOptimizer } from './optimizer/simulated-optimizer.ts';
export {
  type PersonDocuments,
  type SimulatedPerson,
  type SimulatedPersonOptions,
  simulatedPerson,
  type TrueScoreOptions,
} from './person/simulated-person.ts';
export type { PersonSession, PersonTask } from './person/transcript.ts';
export { type ServeSimOptions, type SimServer, serveSim } from './serve-sim.ts';
export {
  type SimulatedJudgeOptions,
  type SimulatedTargetOptions,
  simulatedJudge,
  simulatedTarget,
} from './simulated-target.ts';
export {
  createWorld,
  type LatentRule,
  type World,
  type WorldItem,
  type WorldOptions,
  type WorldSplit,
  worldSkillFolder,
} from './world/world.ts';
