import { readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { serveSim, simulatedOptimizer, simulatedTarget } from 'skillopt/sim';
import { startFakeLLM } from 'skillopt/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { createProject, worldFiles } from './project.ts';

const quick = { numEpochs: 1, batchSize: 12, proposalsPerBatch: 1, target: 'simulated', optimizer: 'simulated' };

/** SQLite keeps these beside a database as long as somebody has it open, and removes them when it likes. */
const BESIDE_DATABASE = /\.db-(shm|wal)$/;

/** Every file below a folder with its bytes: what «nothing on disk changed» means. */
async function snapshot(directory: string): Promise<Record<string, string>> {
  const found = await readdir(directory, { recursive: true, withFileTypes: true });
  const entries = found.filter(({ name }) => !BESIDE_DATABASE.test(name));
  const paths = entries.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name));
  const folders = entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => [join(entry.parentPath, entry.name), '(folder)']);
  const files = await Promise.all(paths.map(async (path) => [path, (await readFile(path)).toString('base64')]));
  return Object.fromEntries([...folders, ...files]);
}

describe('the first ten minutes', () => {
  it('init writes a project that trains offline, and the other commands tell about it', async () => {
    await using project = await createProject();
    expect(await project.ask(['init'])).toMatchObject({ code: 0 });
    expect((await readdir(project.directory)).sort()).toEqual([
      '.gitignore',
      'SKILL.md',
      'skillopt.config.yaml',
      'tasks.jsonl',
    ]);

    const trained = await project.ask(['train', '--json', '--num-epochs', '1']);
    expect(trained.code, trained.stderr).toBe(0);
    const summary = JSON.parse(trained.stdout);
    expect(summary.bestSelectionScore).toBeGreaterThan(summary.baselineSelectionScore);
    expect(summary.testHard).toBeGreaterThan(summary.baselineTestHard);

    const runs = await project.ask(['runs']);
    expect(runs.stdout).toMatch(/starter +done/);
    expect((await project.ask(['show', 'starter'])).stdout).toContain('what changed');
    expect((await project.ask(['diff', 'starter'])).stdout).toMatch(/^\+- Write /m);
    expect((await project.ask(['diff', 'starter'], { FORCE_COLOR: '1', NO_COLOR: '' })).code).toBe(0);
    const scored = await project.ask(['eval', '--skill', 'runs/starter/best_skill.md', '--split', 'test', '--json']);
    expect(JSON.parse(scored.stdout).hard).toBeCloseTo(summary.testHard);
  });

  it('leaves a run directory in which people are at home', async () => {
    await using project = await createProject(worldFiles(quick));
    expect((await project.ask(['train', '--quiet'])).code).toBe(0);
    const files = Object.keys(await snapshot(project.path('runs/run'))).map((path) =>
      path.slice(project.path('runs/run').length + 1),
    );
    expect(files.sort()).toEqual(
      expect.arrayContaining([
        'baseline_selection_eval/buckets.json',
        'baseline_selection_eval/results.json',
        'baseline_selection_eval/summary.json',
        'best_skill.md',
        'cache/cache.db',
        'config.json',
        'current_skill.md',
        'events.jsonl',
        'history.json',
        'runtime_state.json',
        'skills/skill_v0000.md',
        'skills/skill_v0001.md',
        'steps/step_0001/candidate_skill.md',
        'steps/step_0001/edit_apply_report.json',
        'steps/step_0001/merged_patch.json',
        'steps/step_0001/ranked_patch.json',
        'steps/step_0001/raw_patches.json',
        'steps/step_0001/rollout_results.json',
        'steps/step_0001/selection_eval/results.json',
        'steps/step_0001/step_record.json',
        'summary.json',
        'test_eval_baseline/buckets.json',
        'test_eval_best/results.json',
      ]),
    );
    expect(files).not.toContain('run.lock');
    expect(JSON.parse(await project.read('runs/run/summary.json'))).toMatchObject({ is_done: true, total_steps: 2 });
  });

  it('takes flags over the file, and the file over the defaults', async () => {
    await using project = await createProject(worldFiles({ ...quick, editBudget: 3, minEditBudget: 1 }));
    await project.ask(['train', '--quiet', '--edit-budget', '2']);
    const config = JSON.parse(await project.read('runs/run/config.json'));
    expect(config).toMatchObject({ edit_budget: 2, min_edit_budget: 1, minibatch_size: 5 });
  });

  it('keeps the old run when it starts again', async () => {
    await using project = await createProject(worldFiles(quick));
    await project.ask(['train', '--quiet']);
    const before = await project.read('runs/run/events.jsonl');
    expect((await project.ask(['train', '--quiet', '--fresh', '--seed', '7'])).code).toBe(0);
    expect(await project.read('runs/run.old-1/events.jsonl')).toBe(before);
    expect(await project.read('runs/run/events.jsonl')).not.toBe(before);
  });

  it('runs an environment that is named by its module, given as an object or as a function', async () => {
    const body = (define: string) => `
      const items = (split, n) => Array.from({ length: n }, (_, i) => ({ id: split + i, n: i }));
      const splits = { train: items('a', 4), val: items('b', 3), test: items('c', 3) };
      const rolloutOne = async ({ item, skill }) => ({ hard: skill.includes('Write') ? 1 : 0, soft: 0.1, failReason: 'no rule' });
      ${define}`;
    const asObject = body(`export default { name: 'own', getItems: (split) => splits[split], rolloutOne };`);
    const asFunction = body(`export default ({ defineEnv, z }) =>
      defineEnv({ name: 'own', schema: z.object({ id: z.string(), n: z.number() }), items: splits, rolloutOne });`);
    for (const text of [asObject, asFunction]) {
      const files = worldFiles({ ...quick, batchSize: 4, env: './env.mjs', tasks: undefined });
      await using project = await createProject({ ...files, 'env.mjs': text });
      const { code, stderr, stdout } = await project.ask(['train', '--json']);
      expect(code, stderr).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ isDone: true, baselineSelectionHard: 0 });
    }
  });
});

describe('an environment that imports the package', () => {
  it('finds every door of it without installing it, and is made and set up once', async () => {
    const { exports } = JSON.parse(readFileSync('package.json', 'utf8')) as { exports: Record<string, unknown> };
    const doors = Object.keys(exports).filter((door) => door !== './package.json');
    const text = `${doors.map((door, index) => `import * as door${index} from '${door.replace('.', 'skillopt')}';`).join('\n')}
      import { appendFileSync } from 'node:fs';
      const doors = [${doors.map((_, index) => `door${index}`)}];
      if (doors.some((door) => Object.keys(door).length === 0)) throw new Error('an empty door');
      const items = (split) => [1, 2, 3].map((n) => ({ id: split + n }));
      appendFileSync('made.txt', 'made ');
      export default { name: 'own', getItems: items, setup: () => appendFileSync('made.txt', 'set up '),
        close: () => appendFileSync('made.txt', 'closed '), rolloutOne: async () => ({ hard: 0, soft: 0.1 }) };`;
    const files = worldFiles({ ...quick, batchSize: 3, env: './env.mjs', tasks: undefined });
    await using project = await createProject({ ...files, 'env.mjs': text });
    const { code, stderr } = await project.run(['train', '--json']);
    expect(code, stderr).toBe(0);
    expect(await project.read('made.txt')).toBe('made set up closed ');
  });
});

describe('interruptions', () => {
  const serve = () => serveSim({ target: simulatedTarget({ latencyMs: 30 }), optimizer: simulatedOptimizer() });
  const filesWith = ({ url: baseURL }: { readonly url: string }) => {
    const model = (name: string) => ({ provider: 'compatible', model: name, baseURL });
    return worldFiles({ ...quick, numEpochs: 2, target: model('sim-target'), optimizer: model('sim-optimizer') });
  };
  let undisturbed: { readonly skill: string; readonly requests: number };
  beforeAll(async () => {
    await using server = await serve();
    await using project = await createProject(filesWith(server));
    await project.ask(['train', '--quiet']);
    undisturbed = { skill: await project.read('runs/run/best_skill.md'), requests: server.requests };
  });

  it.concurrent.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s drains, exits with %i, and the same command continues to the same end', async (signal, exitCode) => {
    await using server = await serve();
    await using project = await createProject(filesWith(server));
    const { child, finished, until } = project.start(['train']);
    await until(/step +1\/4/);
    child.kill(signal);
    const stopped = await finished;
    expect(stopped.code, stopped.stderr).toBe(exitCode);
    expect(stopped.stderr).toContain('again');
    expect(await readdir(project.path('runs/run'))).not.toContain('run.lock');

    expect((await project.ask(['train', '--quiet'])).code).toBe(0);
    expect(await project.read('runs/run/best_skill.md')).toBe(undisturbed.skill);
    expect(server.requests, 'what was drained was kept: nothing is sent twice').toBe(undisturbed.requests);
  });

  it('keeps a second writer out with exit code 5', async () => {
    const slow = { provider: 'simulated', latencyMs: 200 };
    await using project = await createProject(worldFiles({ ...quick, target: slow }));
    const { child, finished, until } = project.start(['train']);
    await until(/training/);
    const second = await project.ask(['train']);
    expect(second).toMatchObject({ code: 5, stdout: '' });
    expect(second.stderr).toMatch(/hint: /);
    child.kill('SIGKILL');
    await finished;
    expect((await project.ask(['runs'])).stdout).toMatch(/run +/);
  });
});

describe('trouble with models', () => {
  it('stops with 4 when the key is refused, scores nothing, and keeps the key out of everything it writes', async () => {
    const key = 'dummy-key-that-must-not-leak-1234567890';
    const refusal = { status: 401, body: JSON.stringify({ error: { message: `Incorrect API key provided: ${key}` } }) };
    await using server = await startFakeLLM(() => refusal);
    const model = { provider: 'compatible', model: 'm', baseURL: server.baseURL, apiKeyEnv: 'MY_KEY' };
    await using project = await createProject(worldFiles({ ...quick, target: model, optimizer: model }));
    const { code, stdout, stderr } = await project.ask(['train'], { MY_KEY: key });
    expect(code, stderr).toBe(4);
    expect(server.requests.length).toBeLessThanOrEqual(8);
    expect(stdout + stderr).not.toContain(key);
    const events = await project.read('runs/run/events.jsonl');
    expect(events.trimEnd().split('\n')).toHaveLength(1);
    for (const [path, content] of Object.entries(await snapshot(project.directory))) {
      expect(Buffer.from(content, 'base64').includes(key), path).toBe(false);
    }
  });

  it('says that nobody listens at the address, with exit code 4', async () => {
    const model = { provider: 'compatible', model: 'm', baseURL: 'http://127.0.0.1:9/v1' };
    await using project = await createProject(worldFiles({ ...quick, target: model, maxRetries: 0 }));
    const { code, stderr } = await project.ask(['train', '--quiet']);
    expect(code, stderr).toBe(4);
    expect(stderr).toMatch(/hint: /);
  });
});

describe('bad input is one message with a hint, exit code 2, and nothing on disk changed', () => {
  const brokenTasks =
    '{"id":"a","question":"q","answers":["x"],"split":"train"}\n{"id":"b","question":"q","answers":""}\n';
  const task = (id: string, split: string) => JSON.stringify({ id, question: `q ${id}`, answers: ['x'], split });
  const cases: [string, object, Record<string, string>, string[], RegExp][] = [
    ['an unknown config key', { batchsize: 3 }, {}, [], /unknown key\s+batchsize.*batchSize/],
    [
      'minEditBudget above editBudget',
      { editBudget: 1, minEditBudget: 2 },
      {},
      [],
      /minEditBudget: must not exceed editBudget/,
    ],
    ['a flag that is no number', {}, {}, ['--batch-size', 'many'], /batch-?size/i],
    ['a bad row', {}, { 'tasks.jsonl': brokenTasks }, [], /tasks\.jsonl:2: .*answers/],
    ['an empty train split', {}, { 'tasks.jsonl': `${task('a', 'val')}\n` }, [], /train split .*empty/],
    ['an empty validation split', {}, { 'tasks.jsonl': `${task('a', 'train')}\n` }, [], /val split .*empty/],
    [
      'an id in two splits',
      {},
      { 'tasks.jsonl': `${task('a', 'train')}\n${task('a', 'val')}\n` },
      [],
      /tasks\.jsonl:1 and .*tasks\.jsonl:2 share the id "a"/,
    ],
    ['a task file that does not exist', { tasks: 'none.jsonl' }, {}, [], /none\.jsonl/],
    ['a skill file that does not exist', { skill: 'NONE.md' }, {}, [], /NONE\.md/],
    ['an environment that does not exist', { env: './none.mjs' }, {}, [], /none\.mjs/],
    ['an unknown provider', { target: 'oracle:big' }, {}, [], /oracle/],
    [
      'a key in the file',
      { target: { provider: 'compatible', model: 'm', baseURL: 'http://127.0.0.1:9/v1', apiKey: 'x' } },
      {},
      [],
      /apiKeyEnv/,
    ],
    ['a key variable that is not set', { target: 'openai:gpt' }, {}, [], /OPENAI_API_KEY/],
    ['an unwritable run directory', {}, { blocked: 'a file' }, ['--run', 'blocked/run'], /blocked/],
  ];
  it.each(cases)('%s', async (_name, config, files, args, message) => {
    await using project = await createProject({ ...worldFiles({ ...quick, ...config }), ...files });
    const before = await snapshot(project.directory);
    for (const fresh of [[], ['--fresh']]) {
      const { code, stdout, stderr } = await project.ask(['train', ...args, ...fresh]);
      expect(code, stderr).toBe(2);
      expect(stdout).toBe('');
      expect(stderr).toMatch(message);
      expect(stderr).toMatch(/^hint: /m);
      expect(await snapshot(project.directory)).toEqual(before);
    }
  });

  it('a corrupt journal line in the middle, and a run of something else', async () => {
    await using project = await createProject(worldFiles(quick));
    await project.ask(['train', '--quiet']);
    const other = await project.ask(['train', '--batch-size', '6']);
    expect(other).toMatchObject({ code: 2 });
    expect(other.stderr).toMatch(/batchSize: was 12, is 6[\s\S]*hint: /);
    const lines = (await project.read('runs/run/events.jsonl')).split('\n');
    lines[2] = lines[2]!.slice(0, 20);
    await project.write('runs/run/events.jsonl', lines.join('\n'));
    const before = await snapshot(project.directory);
    const { code, stderr } = await project.ask(['train']);
    expect(code, stderr).toBe(2);
    expect(stderr).toMatch(/events\.jsonl:3[\s\S]*hint: /);
    expect(await snapshot(project.directory)).toEqual(before);
  });

  it('an unknown command, run or version', async () => {
    await using project = await createProject(worldFiles(quick));
    expect((await project.ask(['trian'])).stderr).toMatch(/train/);
    for (const args of [['trian'], ['show', 'nothing'], ['diff', 'nothing'], ['eval', '--skill', 'NONE.md']]) {
      const { code, stderr } = await project.ask(args);
      expect(code, `${args.join(' ')}: ${stderr}`).toBe(2);
    }
    const asJson = await project.ask(['show', 'nothing', '--json']);
    expect(JSON.parse(asJson.stdout).error).toMatchObject({ code: 'RUN_NOT_FOUND' });
  });
});

describe('skillopt estimate', () => {
  it('tells calls, tokens and dollars per stage without a call, and the run stays inside', async () => {
    await using project = await createProject(worldFiles(quick));
    const { code, stdout } = await project.ask(['estimate', '--json']);
    expect(code).toBe(0);
    const { stages, totalUsd } = JSON.parse(stdout);
    expect(totalUsd).toEqual({ low: 0, high: 0 });
    const trained = JSON.parse((await project.ask(['train', '--json'])).stdout);
    for (const { stage, calls } of stages) {
      const { replies = 0, cacheHits = 0 } = trained.tokenSummary[stage] ?? {};
      expect(replies - cacheHits, stage).toBeLessThanOrEqual(calls.high);
    }
  });

  it('says that it knows no price rather than guess one', async () => {
    await using project = await createProject(
      worldFiles({ ...quick, target: 'openai:no-such-model', optimizer: 'openai:gpt-4o' }),
    );
    const { code, stdout } = await project.ask(['estimate']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/trying tasks .*\?/);
    expect(stdout).toMatch(/reading results .*\d\.\d\d/);
    expect(stdout).toContain('no price is known');
  });
});

describe('a limit below what a run needs', () => {
  it('is told before anything is spent, and may be ignored', async () => {
    await using project = await createProject(worldFiles({ ...quick, maxCalls: 10 }));
    const refused = await project.ask(['train']);
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toMatch(/needs at least \d+ calls, and --max-calls is 10 calls/);
    expect(await project.ask(['runs', '--json'])).toMatchObject({ stdout: expect.stringContaining('[]') });
    const begun = await project.ask(['train', '--ignore-estimate']);
    expect(begun.stdout).toMatch(/0 of (at most )?\d+ steps/);
    expect(begun.stderr).toMatch(/Raise --max-[\w-]+ to [\d.]+ and run the same command again/);
  });

  it('that it may reach is a warning', async () => {
    await using project = await createProject(worldFiles({ ...quick }));
    const { totals } = JSON.parse((await project.ask(['estimate', '--json'])).stdout);
    const { stderr } = await project.ask(['train', '--max-calls', String(totals.calls.high - 1)]);
    expect(stderr).toMatch(/estimate: about [\d,]+ calls \([\d,]+–[\d,]+\)/);
    expect(stderr).toMatch(/warning: this run may need .* it stops at --max-calls/);
  });
});

describe('skillopt doctor', () => {
  it('finds everything well in a project that can train', async () => {
    await using project = await createProject(worldFiles(quick));
    const { code, stdout } = await project.ask(['doctor', '--json']);
    expect(code).toBe(0);
    const { isOk, checks } = JSON.parse(stdout);
    expect(isOk).toBe(true);
    expect(checks.map(({ name }: { name: string }) => name)).toEqual([
      'node',
      'agents',
      'project',
      'tasks',
      'runs',
      'target',
      'optimizer',
    ]);
  });

  it('says what to do about each problem, continues with the others, and prints no key', async () => {
    const key = 'dummy-key-that-must-not-leak-0987654321';
    await using server = await startFakeLLM(() => ({
      status: 401,
      body: JSON.stringify({ error: { message: `bad key ${key}` } }),
    }));
    const refused = { provider: 'compatible', model: 'm', baseURL: server.baseURL, apiKeyEnv: 'MY_KEY' };
    await using project = await createProject(worldFiles({ ...quick, target: refused, optimizer: 'openai:gpt' }));
    const { code, stdout, stderr } = await project.ask(['doctor'], { MY_KEY: key });
    expect(code).toBe(2);
    expect(stdout).toMatch(
      /✗ target .*401[\s\S]*→[\s\S]*✗ optimizer .*OPENAI_API_KEY is not set\n *→ Set it: export OPENAI_API_KEY=…/,
    );
    expect(stdout + stderr).not.toContain(key);
    expect(server.requests).toHaveLength(1);
  });
});

describe('skillopt cache', () => {
  it('tells what is kept, and deletes it on demand; the run then costs its calls again', async () => {
    await using project = await createProject(worldFiles(quick));
    await project.ask(['train', '--quiet']);
    const { caches } = JSON.parse((await project.ask(['cache', 'stats', '--json'])).stdout);
    expect(caches).toEqual([
      { run: 'run', replies: expect.any(Number), rollouts: expect.any(Number), bytes: expect.any(Number) },
    ]);
    expect(caches[0].replies).toBeGreaterThan(50);
    const cleared = await project.ask(['cache', 'clear', 'run', '--json']);
    // The database may have put its side files away since: then there is less to free.
    expect(JSON.parse(cleared.stdout)).toEqual({ run: 'run', freedBytes: expect.any(Number) });
    expect(JSON.parse(cleared.stdout).freedBytes).toBeGreaterThan(10_000);
    expect((await project.ask(['cache', 'stats'])).stdout).toBe('no caches in runs\n');
    expect((await project.ask(['show', 'run'])).code).toBe(0);
  });
});

describe('skillopt sim', () => {
  it('serves the simulated models to any client, until it is interrupted', async () => {
    await using project = await createProject();
    const { child, finished, until, stdout } = project.start(['sim', '--port', '0', '--json']);
    await until(/serving/);
    const { url } = JSON.parse(stdout());
    const body = JSON.stringify({ model: 'sim-target', messages: [{ role: 'user', content: 'Hello' }] });
    const response = await fetch(`${url}/chat/completions`, { method: 'POST', body });
    expect(await response.json()).toMatchObject({ choices: [{ message: { role: 'assistant' } }] });
    child.kill('SIGINT');
    expect(await finished).toMatchObject({ code: 0 });
  });
});
