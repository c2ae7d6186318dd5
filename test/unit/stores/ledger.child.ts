import { SkillError, type SkillOptConfigInput, SkillOptTrainer } from 'skillopt';
import { openaiCompatible } from 'skillopt/models';
import { levelsEnv } from '../../support/levels.ts';

const [baseURL = '', config = '{}'] = process.argv.slice(2);
const model = (name: string) => openaiCompatible({ model: name, baseURL, apiKey: 'dummy' });
const trainer = new SkillOptTrainer({
  env: levelsEnv(),
  target: model('target'),
  optimizer: model('optimizer'),
  config: { numEpochs: 2, batchSize: 4, finalPasses: 0, ...(JSON.parse(config) as SkillOptConfigInput) },
});

// Trains until it is killed, or says how it ended.
const ending = await trainer.train().then(
  () => 'done',
  (error: unknown) => (error instanceof SkillError ? error.code : String(error)),
);
process.stdout.write(`${ending}\n`);
