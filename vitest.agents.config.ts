import { mergeConfig } from 'vitest/config';
import common from './vitest.config.ts';

/** The real agent CLIs, installed on demand into `.cache/agents`, against a provider on loopback. */
const config = mergeConfig(common, { test: { testTimeout: 180_000, hookTimeout: 300_000 } });
config.test.include = ['test/agents/*.agents.ts'];
config.test.globalSetup = [];

export default config;
