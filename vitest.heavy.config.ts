import { availableParallelism } from 'node:os';
import { mergeConfig } from 'vitest/config';
import common from './vitest.config.ts';

/**
 * Kills, crowds of processes, sandboxes, real shells, newcomers, commands of the docs, nights with tools, other Node lines:
 * `npm run test:all` runs them after the others.
 */
const config = mergeConfig(common, {});
config.test.include = ['test/**/*.heavy.ts'];
config.test.env = {}; // limits of disks and kills are tried on a real disk
config.test.maxWorkers = availableParallelism() + 1; // half of them wait for processes that wait
config.test.server = { deps: { external: [/\/\.cache\/package\//] } }; // as it is: Node loads it
config.test.globalSetup = ['test/support/whole-package.ts'];
if (process.env.CI) config.test.reporters = ['default', ['json', { outputFile: '.cache/vitest-heavy.json' }]];

export default config;
