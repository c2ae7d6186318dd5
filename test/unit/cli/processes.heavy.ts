import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { worldFiles } from '../../e2e/project.ts';
import { isMissing } from '../../support/machine.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { openLines } from '../agents/agent-lines.ts';
import { fakeCli } from '../agents/fake-cli.ts';
import { startClone } from './clone-cli.ts';

vi.setConfig({ testTimeout: 400_000 }); // each starts several processes, which a busy machine does slowly

const models = { target: 'simulated', optimizer: 'simulated' };
const settings = { numEpochs: 1, batchSize: 8, minibatchSize: 4 };

describe('a reader that leaves', () => {
  it.each([
    ['after the first line of progress', ['train'], 'stderr'],
    ['of progress and answer', ['train'], 'both'],
    ['of one object', ['train', '--json', '--quiet'], 'stdout'],
  ])('%s does not stop a run', async (_, args, who) => {
    using folder = tempFolder(worldFiles({ ...settings, ...models }));
    const { child, finished } = startClone(args, { cwd: folder.path });
    if (who !== 'stdout') await once(child.stderr, 'data');
    if (who !== 'stderr') child.stdout.destroy();
    if (who !== 'stdout') child.stderr.destroy();
    const { code, stderr } = await finished;
    expect(code).toBe(0);
    expect(stderr).not.toMatch(/EPIPE|\n\s+at /);
    expect(JSON.parse(readFileSync(join(folder.path, 'runs/run/summary.json'), 'utf8'))).toMatchObject({});
  });

  it('of a list ends it quietly, with the exit code that it would have had', async () => {
    using folder = tempFolder();
    const { child, finished } = startClone(['show', 'nothing', '--json'], { cwd: folder.path });
    child.stdout.destroy();
    expect(await finished).toMatchObject({ code: 2, stderr: expect.stringMatching(/^error: .*\nhint: .*\n$/) });
  });
});

describe('an answer that cannot be written', () => {
  it.skipIf(isMissing('/dev/full', existsSync('/dev/full')))('is said, and is no success', async () => {
    using folder = tempFolder();
    const line = `exec "$0" "$@" > /dev/full`;
    const { finished } = startClone(['runs'], { cwd: folder.path, shell: line });
    expect(await finished).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^error: the answer could not be written: .*ENOSPC.*\n/),
    });
  });
});

/** The CLI and a child of it each hold a line to the test, for as long as they live. */
const FAMILY = `const hold = "require('node:net').connect(Number(process.env.FAKE_PORT), '127.0.0.1')";
  eval(hold);
  require('node:child_process').spawn(process.execPath, ['-e', hold], { stdio: 'inherit' });`;

/** Side by side: two of them wait ten seconds for a call in flight that does not end. */
describe.concurrent('a signal while an agent CLI works', () => {
  /** Starts a command that asks a fake CLI, and waits until the CLI and its child are at work. */
  async function startAsking(args: readonly string[]) {
    const fake = fakeCli('claude', FAMILY);
    const target = { provider: 'claude-cli', path: fake.path, passEnv: ['FAKE_PORT'] };
    const folder = tempFolder(worldFiles({ ...settings, workers: 1, target, optimizer: 'simulated' }));
    const temporary = join(folder.path, 'tmp');
    mkdirSync(temporary);
    const lines = await openLines();
    const env = { TMPDIR: temporary, FAKE_PORT: String(lines.port) };
    const { child, finished } = startClone(args, { cwd: folder.path, env });
    const held = [await lines.next(), await lines.next()];
    return {
      child,
      finished,
      path: folder.path,
      leftFolders: () => readdirSync(temporary).filter((name) => name.startsWith('skillopt-agent-')),
      childrenGone: Promise.all(held.map(({ closed }) => closed)),
      async [Symbol.asyncDispose]() {
        child.kill('SIGKILL');
        await lines[Symbol.asyncDispose]();
        folder[Symbol.dispose]();
        fake[Symbol.dispose]();
      },
    };
  }

  it('a closed terminal ends training as SIGTERM does: no child, no folder, nothing lost', async () => {
    await using asking = await startAsking(['train', '--quiet', '--ignore-estimate']);
    expect(asking.leftFolders()).toHaveLength(1);
    asking.child.kill('SIGHUP');
    const ended = await asking.finished;
    await asking.childrenGone;
    expect(ended.code).toBe(129);
    expect(ended.stderr).toContain('stopping after the calls in flight (≤ 10 s); the terminal was closed\n');
    expect(ended.stderr).toContain('stopped: hung up\nhint: Nothing is lost: run the same command again');
    expect(asking.leftFolders()).toEqual([]);
    expect(existsSync(join(asking.path, 'runs/run/run.lock'))).toBe(false);
  });

  it('a second signal ends it at once, and leaves nothing behind either', async () => {
    await using asking = await startAsking(['train', '--quiet', '--ignore-estimate']);
    asking.child.kill('SIGHUP');
    asking.child.kill('SIGTERM');
    const { code, signal } = await asking.finished;
    await asking.childrenGone;
    expect([code, signal]).not.toEqual([0, null]);
    expect(asking.leftFolders()).toEqual([]);
  });

  it('SIGTERM is answered with what a second one does', async () => {
    await using asking = await startAsking(['train', '--quiet', '--ignore-estimate']);
    asking.child.kill('SIGTERM');
    const { code, stderr } = await asking.finished;
    expect(stderr).toContain('(≤ 10 s); a second SIGTERM quits now\n');
    expect(stderr).not.toContain('Ctrl-C');
    expect(code).toBe(143);
  });

  it.each(['SIGHUP', 'SIGINT'] as const)('%s ends doctor, which has nothing to finish', async (name) => {
    await using asking = await startAsking(['doctor']);
    asking.child.kill(name);
    const { signal } = await asking.finished;
    await asking.childrenGone;
    expect(signal).toBe(name);
    expect(asking.leftFolders()).toEqual([]);
  });
});

describe('an environment that throws where no rollout can catch it', () => {
  const config = { env: './env.mjs', target: 'simulated', optimizer: 'simulated' };
  const envWith = (late: string) => `import { EventEmitter } from 'node:events';
    export default {
      name: 'late', getItems: (split) => [0, 1, 2, 3].map((k) => ({ id: split + k })),
      rolloutOne: () => new Promise(() => { ${late} }) };`;

  it.each([
    ['a timer', 'setTimeout(() => { throw new Error("the socket is gone"); }, 1);'],
    [
      'an event nobody hears',
      'setTimeout(() => new EventEmitter().emit("error", new Error("the socket is gone")), 1);',
    ],
    ['a promise nobody awaits', 'Promise.reject(new Error("the socket is gone"));'],
    ['something that is no error', 'setTimeout(() => { throw "the socket is gone"; }, 1);'],
  ])('says so of %s, with exit code 4', async (_, late) => {
    using folder = tempFolder({ 'env.mjs': envWith(late), 'skillopt.config.json': JSON.stringify(config) });
    const { finished } = startClone(['train', '--json'], { cwd: folder.path });
    const { code, stderr, stdout } = await finished;
    expect(stderr).toMatch(
      /error: the environment threw outside of rolloutOne( \(.*env\.mjs:4\))?: the socket is gone\nhint: /,
    );
    expect(code).toBe(4);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'ENV_FAILED' } });
  });
});
