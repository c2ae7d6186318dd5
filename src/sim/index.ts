export { type SimulatedOptimizerOptions, simulatedOptimizer } from './optimizer/simulated-optimizer.ts';
export {
  type PersonDocuments,
  type SimulatedPerson,
  type SimulatedPersonOptions,
  simulatedPerson,
  type TrueScoreOptions,
} from './person/simulated-person.ts';
export type { PersonTask } from './person/task.ts';
export type { PersonSession } from './person/transcript.ts';
export { type ServeSimOptions, type SimServer, serveSim } from './serve/serve-sim.ts';
export { type SimulatedJudgeOptions, simulatedJudge } from './simulated-judge.ts';
export { type SimulatedTargetOptions, simulatedTarget } from './simulated-target.ts';
export { worldSkillFolder } from './world/skill-folder.ts';
export {
  createWorld,
  type LatentRule,
  type World,
  type WorldItem,
  type WorldOptions,
  type WorldSplit,
} from './world/world.ts';
