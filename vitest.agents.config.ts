import { mergeConfig } from 'vitest/config';
import common from './vitest.config.ts';

/** The real agent CLIs, installed on demand into `.cache/agents`, against a provider on loopback. */
const config = mergeConfig(common, { test: { testTimeout: 90_000 } });
config.test.include = ['test/agents/*.agents.ts'];
config.test.env = {}; // temporary files are on a disk, as they are for users
config.test.globalSetup = ['test/support/package.ts', 'test/agents/install-cli.ts'];
// Nights, ends and queries with real agents take minutes: stand-ins for them are among the other tests.
if (process.env.CI) config.test.exclude = ['test/agents/{ends,sleep,triggering}.agents.ts'];
if (process.env.CI) config.test.reporters = ['verbose', ['json', { outputFile: '.cache/vitest-agents.json' }]];

export default config;
