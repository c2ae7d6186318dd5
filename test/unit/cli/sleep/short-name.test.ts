import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sleepHome } from '../../../support/sleep/sleep-home.ts';

const { bin } = JSON.parse(readFileSync('package.json', 'utf8')) as { bin: Record<string, string> };

/** Runs a command of the package by the name that a person types. */
function typed(name: string, ...args: string[]) {
  using home = sleepHome();
  const { PATH } = process.env;
  const options = { cwd: home.shop, env: { ...home.env, PATH, NO_COLOR: '1' }, encoding: 'utf8' as const };
  const { status, stdout, stderr } = spawnSync(process.execPath, [resolve(bin[name]!), ...args], options);
  return { status, stdout: stdout.replaceAll(home.path, '~'), stderr };
}

describe('skillopt-sleep', () => {
  it('is skillopt sleep', () => {
    const status = typed('skillopt-sleep', 'status', '--json');
    expect(status).toEqual(typed('skillopt', 'sleep', 'status', '--json'));
    expect(status.status).toBe(0);
  });

  it.each([[['--help']], [['run', '--help']], [['help']]])('shows its own name in the help (%j)', (args) => {
    const { status, stdout } = typed('skillopt-sleep', ...args);
    expect(status).toBe(0);
    expect(stdout).toMatch(/usage: node \S*bin\/skillopt-sleep\.mjs/i);
    expect(stdout).not.toContain('skillopt sleep');
    expect(typed('skillopt', 'sleep', '--help').stdout).not.toContain('skillopt-sleep ');
  });

  it('shows its own name when a flag is wrong', () => {
    const { status, stderr } = typed('skillopt-sleep', 'run', '--wrong');
    expect(status).toBe(2);
    expect(stderr).toMatch(/See node \S*bin\/skillopt-sleep\.mjs run --help/);
  });

  it('has the version of skillopt', () => {
    expect(typed('skillopt-sleep', '--version')).toEqual(typed('skillopt', '--version'));
  });
});
