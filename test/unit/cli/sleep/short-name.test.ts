import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../../../src/cli/index.ts';
import { captureIo } from '../../../support/capture-io.ts';
import { sleepHome } from '../../../support/sleep/sleep-home.ts';

type Name = 'skillopt' | 'skillopt-sleep';

const { bin } = JSON.parse(readFileSync('package.json', 'utf8')) as { bin: Record<Name, string> };

/** Runs a command of the package by the name that a person types in a clone. */
async function typed(name: Name, ...args: string[]) {
  using home = sleepHome();
  const io = { ...captureIo({ cwd: home.shop, env: home.env }), argv: ['node', `/clone/${bin[name]}`, ...args] };
  const code = await runCli(args, io, name);
  return { code, out: io.out().replaceAll(home.path, '~'), err: io.err() };
}

describe('skillopt-sleep', () => {
  it('is a program of the package that passes its own name on', () => {
    expect(readFileSync(bin['skillopt-sleep'], 'utf8')).toContain("run('skillopt-sleep')");
  });

  it('is skillopt sleep', async () => {
    const status = await typed('skillopt-sleep', 'status', '--json');
    expect(status).toEqual(await typed('skillopt', 'sleep', 'status', '--json'));
    expect(status.code).toBe(0);
  });

  it.each([[['--help']], [['run', '--help']], [['help']]])('shows its own name in the help (%j)', async (args) => {
    const { code, out } = await typed('skillopt-sleep', ...args);
    expect(code).toBe(0);
    expect(out).toMatch(/usage: node \S*bin\/skillopt-sleep\.mjs/i);
    expect(out).not.toContain('skillopt sleep');
    expect((await typed('skillopt', 'sleep', '--help')).out).not.toContain('skillopt-sleep ');
  });

  it('shows its own name when a flag is wrong', async () => {
    const { code, err } = await typed('skillopt-sleep', 'run', '--wrong');
    expect(code).toBe(2);
    expect(err).toMatch(/See node \S*bin\/skillopt-sleep\.mjs run --help/);
  });

  it('has the version of skillopt', async () => {
    expect(await typed('skillopt-sleep', '--version')).toEqual(await typed('skillopt', '--version'));
  });
});
