import { describe, expect, it } from 'vitest';
import { type WorkspaceTask, workspaceEnv } from '../../../../src/public/runners.ts';
import { probeSandbox, type Sandbox, sandboxes } from '../../../../src/public/workspaces.ts';
import { isMissing } from '../../../support/machine.ts';
import { shellAgent } from '../../../support/shell-agent.ts';
import { loadFixture } from './work-imports.ts';

const lacksBubblewrap = isMissing('bubblewrap', (await probeSandbox()).bubblewrap.isAvailable);
const SKILL = '---\nname: sums\ndescription: Sums.\n---\n\nSum it.\n';

describe('a folder of Harbor tasks', () => {
  it('becomes tasks with files, tests that lie apart, limits and a reward', async () => {
    const { tasks } = await loadFixture('harbor');
    expect(Object.keys(tasks)).toEqual(['allowed', 'elsewhere', 'shop/every-field', 'parts']);
    expect(tasks['shop/every-field']).toMatchObject({
      prompt: 'Sum the prices in /app/orders.csv and write the sum to /app/total.txt.\n',
      at: '/app',
      taskType: 'tables',
      files: {
        'orders.csv': expect.stringContaining('lamp'),
        'lib/sum.sh': expect.stringContaining('#!'),
        'lib/deep/er.txt': 'deeper\n',
        'more/notes.txt': 'notes\n',
        readme: 'notes\n',
      },
      binaries: { 'more/logo.bin': 'AP8=' },
      limits: { timeoutMs: 120_500, memoryMb: 1024, diskMb: 512 },
      verify: {
        command: ['bash', '/tests/test.sh'],
        at: '/tests',
        verdict: 'reward',
        timeoutMs: 90_000,
        env: { EXPECTED: '42', REGION: 'north', MODE: 'strict', LABELS: 'a b' },
        files: { 'test.sh': expect.any(String), 'expected.txt': '42\n' },
      },
    });
    expect(tasks['shop/every-field']?.files).not.toHaveProperty('left-behind.txt');
    expect(JSON.stringify(tasks)).not.toContain('THE-SOLUTION');
    expect(tasks.elsewhere?.at).toBe('/srv/task');
  });

  it('names every field that is not kept, and refuses by name what needs docker', async () => {
    const { named } = await loadFixture('harbor');
    const refused = named.filter((line) => line.includes('| the task |'));
    expect(named.slice(0, refused.length)).toEqual(refused);
    expect(refused).toEqual([
      expect.stringContaining('broken | the task | task.toml:1: '),
      'downloads | the task | tests/test.sh downloads what it needs (curl), and allowed_hosts names no host for it',
      'graphics | the task | it needs a graphics card',
      'image-alone | the task | its files are in the image shop/all:1, which needs docker',
      'needs-run | the task | environment/Dockerfile:2: RUN needs docker: without it only one FROM, and COPY, WORKDIR and ENV are carried',
      'outside | the task | COPY to /etc/app.conf needs docker: only /app, where the agent works, is there without it',
      'stages | the task | environment/Dockerfile:2: FROM needs docker: without it only one FROM, and COPY, WORKDIR and ENV are carried',
      'steps | the task | it has several steps, each with a verifier of its own',
    ]);
    expect(named).toContain(
      'allowed: verifier.allowed_hosts | verifier.allowed_hosts | in your project file: verifierHosts: [astral.sh, *.pypi.org]',
    );
    const fields = named.flatMap((line) => /^every-field: \S+ \| (.*?) \| /.exec(line)?.[1] ?? []);
    expect(fields.sort()).toEqual([
      '--chown=agent:agent',
      'ENV LABELS',
      'ENV MODE',
      'FROM python:3.12-slim',
      'agent.network_mode',
      'agent.user',
      'environment.allow_internet',
      'environment.cpus',
      'environment.docker_image',
      'environment.env.REGION',
      'environment.healthcheck.command',
      'environment.healthcheck.interval_sec',
      'environment.mcp_servers',
      'environment.skills_dir',
      'metadata.difficulty',
      'task.authors',
      'task.description',
      'task.keywords',
      'verifier.allowed_hosts',
      'verifier.collect',
      'verifier.env.JUDGE_KEY',
      'verifier.network_mode',
      'verifier.user',
    ]);
  });

  it('may be one task alone', async () => {
    const { tasks } = await loadFixture('harbor/parts');
    expect(Object.keys(tasks)).toEqual(['parts']);
  });
});

const envOf = (task: WorkspaceTask, sandbox: Sandbox) =>
  workspaceEnv({ name: 'harbor', items: { train: [task] }, folder: '/', sandbox });

async function attempt(id: string, script: string) {
  const sandbox = sandboxes.bubblewrap();
  const task = (await loadFixture('harbor')).tasks[id]!;
  const agent = shellAgent(sandbox, () => ({ script }));
  const { signal } = new AbortController();
  const target = { id: 'none', complete: () => Promise.reject(new Error('not asked')) };
  return envOf(task, sandbox).rolloutOne({ item: task, skill: SKILL, target, agent, extras: {}, signal });
}

describe.skipIf(lacksBubblewrap)('a Harbor task', () => {
  it('is seen at /app by the agent and by its tests, which the agent never sees', async () => {
    const script =
      "ls /tests >/dev/null 2>&1 && exit 1; lib/sum.sh && awk -F, '{s+=$2} END {print s}' /app/orders.csv > total.txt";
    expect(await attempt('shop/every-field', script)).toMatchObject({ hard: 1, soft: 1 });
    expect(await attempt('shop/every-field', 'echo 41 > /app/total.txt')).toMatchObject({ hard: 0, soft: 0 });
  });

  it('cannot be tampered with: rewards and tests of the agent are not those of the verifier', async () => {
    const script = 'mkdir -p tests logs/verifier; echo 1 > logs/verifier/reward.txt; echo 42 > tests/expected.txt';
    expect(await attempt('shop/every-field', script)).toMatchObject({ hard: 0 });
  });

  it('gives rewards by name, and works where its Dockerfile says', async () => {
    expect(await attempt('parts', 'true')).toMatchObject({ hard: 0, soft: 0.75 });
    expect(await attempt('elsewhere', 'echo ok > /srv/task/ok.txt')).toMatchObject({ hard: 1 });
  });
});

it('is refused without a sandbox that can show it at /app', async () => {
  const { parts } = (await loadFixture('harbor')).tasks;
  const setup = async () => envOf(parts!, sandboxes.none()).setup?.({} as never);
  await expect(setup()).rejects.toMatchObject({
    code: 'SANDBOX_UNAVAILABLE',
    message: 'tasks are seen at /app, and sandbox: none cannot show them there',
  });
});
