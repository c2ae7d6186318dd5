export type { SkillScore } from './evaluate-skill.ts';
export { SkillOptTrainer } from './trainer.ts';
export type { TrainerOptions } from './trainer-options.ts';
