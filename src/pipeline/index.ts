export { mergePatches } from './aggregate.ts';
export { evaluateCandidate, gateScore, scoreSkill } from './evaluate.ts';
export { loadPrompts } from './prompts.ts';
export { runMinibatchReflect } from './reflect.ts';
export { runRollout } from './rollout.ts';
export { rankAndSelect } from './select.ts';
export { createStageDeps, type StageDeps } from './stage-deps.ts';
export { createStop, type Stop } from './stop.ts';
export { updateSkill } from './update.ts';
