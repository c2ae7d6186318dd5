import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { programArgs } from '../support/compiled.ts';
import { createProject } from './project.ts';

/** The agent of the example, on a free port. */
async function startAgent() {
  const child = spawn(process.execPath, programArgs('examples/own-agent/agent.ts'), {
    env: { ...process.env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(child.stdout!.setEncoding('utf8'), 'data');
  return { url: String(line).trim(), [Symbol.dispose]: () => void child.kill() };
}

it('examples/own-agent: a project in TypeScript is trained over HTTP and applied by the packed tool alone', async () => {
  await using project = await createProject();
  await cp('examples/own-agent', project.directory, { recursive: true });
  using agent = await startAgent();
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await project.run(args, { AGENT_URL: agent.url });
    expect([args[0], code, stderr]).toEqual([args[0], 0, expect.any(String)]);
    return stdout;
  };
  expect(await run('doctor')).toContain('target     none: the environment asks no model');
  expect(await run('estimate')).not.toMatch(/^ *rollout/m);
  const summary = JSON.parse(await run('train', '--json'));
  expect(summary.testHard).toBeGreaterThan(summary.baselineTestHard);
  const seed = await project.read('house-style/SKILL.md');
  expect(await run('apply', 'house-style')).toContain('proven');
  expect(await project.read('house-style/SKILL.md')).toBe(await project.read('runs/house-style/best_skill.md'));
  await run('apply', 'house-style', '--undo');
  expect(await project.read('house-style/SKILL.md')).toBe(seed);
});

it('an agent that is down is an outage, and says how to start it', async () => {
  await using project = await createProject();
  await cp('examples/own-agent', project.directory, { recursive: true });
  const { code, stderr } = await project.run(['train', '--quiet'], { AGENT_URL: 'http://127.0.0.1:9/' });
  expect([code, stderr]).toEqual([4, expect.stringContaining('no agent answers at http://127.0.0.1:9/')]);
  expect(stderr).toContain('npx tsx agent.ts');
});
