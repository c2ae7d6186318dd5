import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { startFakeLLM } from 'skillopt/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sleepHome } from '../support/sleep/sleep-home.ts';
import { nightAnswer, nightFlags, reviewedTasks } from '../unit/cli/sleep/night-over-http.ts';
import { RULE } from '../unit/sleep/night/night-world.ts';
import { createProject } from './project.ts';

/** The lines of Node that are maintained, beside the oldest one that is supported. */
const LINES = ['20.19.0', '22', '24'];

const execute = promisify(execFile);
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

/** Where a user has installed the packed tool, and nothing else. */
const USER = mkdtempSync(join(tmpdir(), 'skillopt-user-'));
const BIN = join(USER, 'node_modules/skillopt/bin/skillopt.mjs');

/** From npm; gives the reason if it cannot be reached. */
async function install(folder: string, name: string): Promise<string | undefined> {
  const quiet = ['--no-audit', '--no-fund', '--no-save', '--loglevel=error', '--fetch-retries=1'];
  try {
    await execute('npm', ['install', '--prefix', folder, ...quiet, name], { timeout: 300_000 });
  } catch (error) {
    const [reason = ''] = String((error as { stderr?: string }).stderr ?? error).split('\n');
    return `${name} cannot be installed: ${reason}`;
  }
}

/** Without the network there is nothing to try, unless everything has to be tried. */
function skipIfMissing(missing: string | undefined, skip: (reason: string) => void): void {
  if (missing === undefined) return;
  if (process.env.REQUIRE_PROGRAMS) throw new Error(missing);
  skip(missing);
}

let missingPackage: string | undefined;

beforeAll(async () => {
  missingPackage = await install(USER, resolve(`.cache/skillopt-${version}.tgz`));
});

afterAll(() => rmSync(USER, { recursive: true, force: true, maxRetries: 5 }));

it('a fresh install has at most 72 packages beside the tool, and none of them runs a script', ({ skip }) => {
  skipIfMissing(missingPackage, skip);
  const { packages } = JSON.parse(readFileSync(join(USER, 'node_modules/.package-lock.json'), 'utf8')) as {
    packages: Record<string, { hasInstallScript?: boolean }>;
  };
  const others = Object.keys(packages).filter((path) => path !== 'node_modules/skillopt');
  expect(others.length).toBeLessThanOrEqual(72);
  expect(others.filter((path) => packages[path]!.hasInstallScript)).toEqual([]);
});

describe.concurrent.each(LINES)('the installed command with Node %s', (line) => {
  const folder = resolve('.cache/node', line);
  const node = join(folder, 'node_modules/node/bin/node');
  let missing: string | undefined;

  beforeAll(async () => {
    missing = missingPackage ?? (existsSync(node) ? undefined : await install(folder, `node@${line}`));
  });

  it('gives help, shows itself, writes a project, trains it, and tells about it', async ({ skip }) => {
    skipIfMissing(missing, skip);
    expect((await execute(node, ['--version'])).stdout).toMatch(new RegExp(`^v${line}\\b`));
    await using project = await createProject({}, [node, BIN]);
    expect((await project.run(['--version'])).stdout).toBe(`${version}\n`);
    expect((await project.run(['--help'])).stdout).toContain('usage: npx skillopt <command>');
    const shown = await project.run(['demo']);
    expect([shown.code, shown.stdout]).toEqual([0, expect.stringContaining('better')]);
    expect(await project.run(['init'])).toMatchObject({ code: 0 });
    const trained = await project.run(['train', '--json', '--num-epochs', '1']);
    expect(trained.code, trained.stderr).toBe(0);
    const summary = JSON.parse(trained.stdout);
    expect(summary.testHard).toBeGreaterThan(summary.baselineTestHard);
    expect((await project.run(['show', 'starter'])).stdout).toContain('what changed');
    expect(await project.run(['show', 'nothing'])).toMatchObject({ code: 2 });
  });

  it('reads sessions, learns in a night, and adopts what was learned', async ({ skip }) => {
    skipIfMissing(missing, skip);
    using home = sleepHome();
    await using llm = await startFakeLLM(nightAnswer);
    const ask = async (...words: string[]) => {
      const { stdout } = await execute(node, [BIN, 'sleep', ...words, '--json'], { cwd: home.shop, env: home.env });
      return JSON.parse(stdout);
    };
    home.said();
    reviewedTasks(home);
    expect(await ask()).toMatchObject({ sessions: 1 });
    expect(await ask('harvest')).toMatchObject({ tasks: expect.any(Array) });
    await ask(...nightFlags(llm.baseURL));
    expect((await ask('status')).pending).toHaveLength(1);
    const { adopted } = await ask('adopt');
    expect(adopted).toHaveLength(1);
    expect(readFileSync(adopted[0].document.path, 'utf8')).toContain(RULE);
  });
});
