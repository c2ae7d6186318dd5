import { EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startFakeLLM } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../../../src/cli/index.ts';
import { captureIo } from '../../../support/capture-io.ts';
import { sleepHome } from '../../../support/sleep-home.ts';
import { tempFolder } from '../../../support/temp-folder.ts';
import { startClone } from '../clone-cli.ts';
import { nightAnswer, nightFlags, reviewedTasks } from './night-over-http.ts';

describe('row 33: no run lock', () => {
  it('of four runs of a night at once one works, and three say who holds the lock and what to do', async () => {
    using home = sleepHome();
    reviewedTasks(home);
    const gate = new EventEmitter();
    const threeEnded = once(gate, 'three');
    await using server = await startFakeLLM(async (request) => {
      await threeEnded; // the night lasts until the others have given up
      return nightAnswer(request);
    });
    let ended = 0;
    const runs = [1, 2, 3, 4].map(() => {
      const { child, finished } = startClone(['sleep', ...nightFlags(server.baseURL), '--json'], {
        cwd: home.shop,
        env: home.env,
      });
      return finished.then((end) => {
        ended += 1;
        if (ended === 3) gate.emit('three');
        return { pid: child.pid, ...end };
      });
    });
    const ends = await Promise.all(runs);
    const [worked, ...others] = ends.toSorted((a, b) => a.code! - b.code!);
    expect(worked).toMatchObject({ code: 0, stdout: expect.stringContaining('"night": 1') });
    const held = new RegExp(
      `is being written by process ${worked!.pid} since \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d UTC`,
    );
    for (const { code, stderr } of others) {
      expect({ code, stderr }).toMatchObject({ code: 5, stderr: expect.stringMatching(held) });
      expect(stderr).toContain(
        'Wait until it ends, or stop it: what it has done is kept, and the next run resumes it.',
      );
    }
    const state = JSON.parse(readFileSync(join(home.state, 'state.json'), 'utf8'));
    expect(state.history).toMatchObject([{ night: 1, accepted: true }]);
  });
});

describe('row 39: token totals count twice, errors are hidden, and a wrong number of workers crashes', () => {
  it('a night counts what the provider counted, once, however many attempts run at a time', async () => {
    using home = sleepHome();
    reviewedTasks(home);
    const usage = { prompt_tokens: 7, completion_tokens: 4, total_tokens: 11 };
    await using server = await startFakeLLM((request) => ({ content: nightAnswer(request), usage }));
    const { code, out } = await home.run([...nightFlags(server.baseURL), '--json']);
    expect(code).toBe(0);
    const calls = server.requests.length;
    expect(JSON.parse(out)).toMatchObject({ calls, tokensUsed: 11 * calls });
  });

  it.each(['target', 'optimizer'] as const)('what the %s said when it failed is shown, with its name', async (role) => {
    using home = sleepHome();
    reviewedTasks(home);
    await using well = await startFakeLLM(nightAnswer);
    await using broken = await startFakeLLM(() => ({ status: 401, content: `no such key of the ${role}` }));
    const other = role === 'target' ? 'optimizer' : 'target';
    const flags = ['run', '--tasks', 'tasks.json', `--${role}`, `compatible:broken@${broken.baseURL}`];
    const { code, err } = await home.run([...flags, `--${other}`, `compatible:well@${well.baseURL}`, '--quiet']);
    expect(code).not.toBe(0);
    expect(err).toContain('broken');
    expect(err).toContain(`no such key of the ${role}`);
  });

  it('a number of workers that is none is refused by name', async () => {
    using folder = tempFolder({ 'skillopt.config.json': JSON.stringify({ workers: 'many' }) });
    const io = captureIo({ cwd: folder.path });
    expect(await runCli(['train'], io)).toBe(2);
    expect(io.err()).toMatch(/workers.*many/s);
  });
});
