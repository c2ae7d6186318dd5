import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const source = (path: string) => fileURLToPath(new URL(`./src/${path}`, import.meta.url));

/** The tests that `npm test` runs. What takes long is named `*.heavy.ts`, and runs by `vitest.heavy.config.ts`. */
export default defineConfig({
  resolve: {
    alias: [
      { find: /^skillopt$/, replacement: source('index.ts') },
      { find: /^skillopt\/(\w+)$/, replacement: `${source('public/')}$1.ts` },
    ],
  },
  test: {
    include: ['test/**/*.test.ts'],
    maxWorkers: availableParallelism() + 1, // tests wait for processes and servers: one per core leaves cores idle
    isolate: false, // nothing is mocked: reading all modules anew for each file would take a third of the time
    testTimeout: 300_000,
    hookTimeout: 300_000,
    globalSetup: process.env.WITHOUT_PACKAGE ? [] : ['test/support/package.ts'], // without it processes are started through tsx
    reporters: process.env.CI ? ['default', ['json', { outputFile: '.cache/vitest.json' }]] : ['default'],
  },
});
