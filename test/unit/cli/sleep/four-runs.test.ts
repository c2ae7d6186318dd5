import { startFakeLLM } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../../../src/cli/index.ts';
import { captureIo } from '../../../support/capture-io.ts';
import { sleepHome } from '../../../support/sleep/sleep-home.ts';
import { tempFolder } from '../../../support/temp-folder.ts';
import { nightAnswer, nightFlags, reviewedTasks } from './night-over-http.ts';

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
