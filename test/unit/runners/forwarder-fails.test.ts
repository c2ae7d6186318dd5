import { execFile } from 'node:child_process';
import { createServer } from 'node:net';
import type { Sandbox } from 'skillopt/workspaces';
import { expect, it } from 'vitest';
import { reaching } from '../../../src/runners/index.ts';

/** Runs commands here, with what would be mounted at its own path: so a port of this machine can be in the way. */
const here = {
  id: 'here',
  hasOwnNames: true,
  run: ({ command, mounts = [], env }) =>
    new Promise((resolve) => {
      const longestFirst = mounts.toSorted((a, b) => b.to.length - a.to.length);
      const words = command.map((word) => longestFirst.reduce((text, { from, to }) => text.replace(to, from), word));
      const options = { env: { ...process.env, ...env } };
      const child = execFile(words[0]!, words.slice(1), options, (_error, stdout, stderr) =>
        resolve({
          exitCode: child.exitCode ?? undefined,
          signal: undefined,
          timedOut: false,
          stdout,
          stderr,
          toolsCalled: [],
        }),
      );
    }),
} as Sandbox;

const run = (code: number) =>
  reaching(['pypi.org'], here).run({ command: ['sh', '-c', `exit ${code}`], files: {}, env: {}, timeoutMs: 9_000 });

it('a command that ends with 71 itself has ended with 71', async () => {
  expect(await run(71)).toMatchObject({ exitCode: 71 });
  expect(await run(0)).toMatchObject({ exitCode: 0 });
});

it('a way out that could not be opened is no exit code of the command, which never ran', async () => {
  const inTheWay = createServer();
  await new Promise<void>((resolve) => void inTheWay.listen(8128, '127.0.0.1', resolve));
  try {
    await expect(run(0)).rejects.toThrow(/cannot listen on port 8128: .*EADDRINUSE/);
  } finally {
    inTheWay.close();
  }
});
