// Your own agent, in TypeScript: see env.ts. Start the stand-in with `npx tsx agent.ts`, then `npx skillopt train` and `npx skillopt apply house-style`.
import { defineConfig } from 'skillopt';

export default defineConfig({
  name: 'house-style',
  env: './env.ts',
  skill: './house-style',
  target: 'none', // the agent behind env.ts brings its own model
  optimizer: 'simulated', // for example openai:MODEL
  numEpochs: 1,
  batchSize: 12,
});
