import { mergeConfig } from 'vitest/config';
import common from './vitest.config.ts';

/** A real language model, assembled on demand into `.cache/local-model`. The first run takes one to three hours; what it computed is kept. */
const config = mergeConfig(common, { test: { testTimeout: 3_600_000, hookTimeout: 1_800_000 } });
config.test.include = ['test/real/*.real.ts'];
config.test.env = {}; // temporary files are on a disk, as they are for users
config.test.globalSetup = [];
config.test.fileParallelism = false;

export default config;
