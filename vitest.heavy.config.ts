import { availableParallelism } from 'node:os';
import { mergeConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import common from './vitest.config.ts';

/** Begin first: what takes minutes would otherwise run alone at the end. Without a cache, the others begin by their size. */
const LONGEST = /\/(?:release|costs-after-kills|elsewhere|with-tools|same-facts|page|agents|newcomers)\.heavy\.ts$/;

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const [long, short] = [true, false].map((isLong) =>
      sorted.filter(({ moduleId }) => LONGEST.test(moduleId) === isLong),
    );
    return [...long!, ...short!];
  }
}

/**
 * Kills, crowds of processes, sandboxes, real shells, newcomers, commands of the docs, nights with tools, other Node lines:
 * `npm run test:all` runs them after the others.
 */
const config = mergeConfig(common, {});
config.test.include = ['test/**/*.heavy.ts'];
config.test.env = {}; // limits of disks and kills are tried on a real disk
config.test.sequence = { sequencer: LongestFirst };
config.test.maxWorkers = availableParallelism() + 1; // half of them wait for processes that wait
config.test.server = { deps: { external: [/\/\.cache\/package\//] } }; // as it is: Node loads it
config.test.globalSetup = ['test/support/whole-package.ts'];
if (process.env.CI) config.test.reporters = ['default', ['json', { outputFile: '.cache/vitest-heavy.json' }]];

export default config;
