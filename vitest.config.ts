import { existsSync, mkdirSync, statfsSync } from 'node:fs';
import { availableParallelism, tmpdir, userInfo } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const source = (path: string) => fileURLToPath(new URL(`./src/${path}`, import.meta.url));

/** Tests write thousands of small files, and memory takes them many times faster than a disk. */
function temporaryFolder(): string {
  const memory = '/dev/shm';
  if (!existsSync(memory)) return tmpdir();
  const { bavail, bsize } = statfsSync(memory);
  if (bavail * bsize < 4 * 2 ** 30) return tmpdir();
  const folder = `${memory}/skillopt-tests-${userInfo().uid}`;
  mkdirSync(folder, { recursive: true });
  return folder;
}

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
    isolate: false, // nothing is mocked: reading all modules again for each file would take a third of the time
    env: { TMPDIR: process.env.TMPDIR ?? temporaryFolder() },
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } }, // what is waited for comes late on a busy machine
    globalSetup: process.env.WITHOUT_PACKAGE ? [] : ['test/support/package.ts'], // without it processes are started through tsx
    reporters: process.env.CI ? ['default', ['json', { outputFile: '.cache/vitest.json' }]] : ['default'],
  },
});
