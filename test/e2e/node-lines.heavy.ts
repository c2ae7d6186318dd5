import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createProject } from './project.ts';

/** The lines of Node that are maintained, beside the oldest one that is supported. */
const LINES = ['20.19.0', '22', '24'];

const execute = promisify(execFile);

/** A binary of that line, fetched from npm into `.cache/node` once; or why there is none. */
async function installNode(line: string): Promise<{ readonly path?: string; readonly missing?: string }> {
  const folder = resolve('.cache/node', line);
  const path = join(folder, 'node_modules/node/bin/node');
  if (existsSync(path)) return { path };
  try {
    const quiet = ['--no-audit', '--no-fund', '--no-save', '--loglevel=error', '--fetch-retries=1'];
    await execute('npm', ['install', '--prefix', folder, ...quiet, `node@${line}`], { timeout: 300_000 });
    return { path };
  } catch (error) {
    const [reason = ''] = String((error as { stderr?: string }).stderr ?? error).split('\n');
    return { missing: `node@${line} cannot be installed: ${reason}` };
  }
}

describe.concurrent.each(LINES)('the packed command with Node %s', (line) => {
  it('writes a project, trains it, and tells about it', async (context) => {
    const { path, missing } = await installNode(line);
    if (path === undefined) {
      if (process.env.REQUIRE_PROGRAMS) throw new Error(missing);
      return context.skip(missing);
    }
    expect((await execute(path, ['--version'])).stdout).toMatch(new RegExp(`^v${line}\\b`));
    await using project = await createProject({}, path);
    expect(await project.run(['init'])).toMatchObject({ code: 0 });
    const trained = await project.run(['train', '--json', '--num-epochs', '1']);
    expect(trained.code, trained.stderr).toBe(0);
    const summary = JSON.parse(trained.stdout);
    expect(summary.testHard).toBeGreaterThan(summary.baselineTestHard);
    expect((await project.run(['show', 'starter'])).stdout).toContain('what changed');
    expect(await project.run(['show', 'nothing'])).toMatchObject({ code: 2 });
  });
});
