export type { SkillScore } from './evaluate-skill.ts';
export { SkillOptTrainer, type TrainerOptions } from './trainer.ts';
