import { EventEmitter, once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startFakeLLM } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { sleepHome } from '../../../support/sleep/sleep-home.ts';
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
