import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { wireRun } from '../../../src/app/wire-run.ts';
import { findConfigFile, loadProject } from '../../../src/project/index.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const TASKS = ['train', 'val', 'test']
  .map((split) => `${JSON.stringify({ id: split, question: 'q', answers: ['a'], split })}\n`)
  .join('');

describe('a project', () => {
  it('takes flags over file over defaults', async () => {
    using folder = tempFolder({ 'skillopt.config.yaml': 'batchSize: 5\nseed: 1\nevalTest: false\n' });
    const flags = { seed: 2, evalTest: undefined };
    const { project, directory } = await loadProject({ flags, cwd: folder.path });
    expect(project).toMatchObject({ batchSize: 5, seed: 2, evalTest: false, numEpochs: 4, env: 'qa' });
    expect(directory).toBe(folder.path);
  });

  it('reads paths from where they were written', async () => {
    using folder = tempFolder({
      'deep/skillopt.config.json': '{ "tasks": "t.jsonl", "skill": "S.md", "env": "./e.mjs" }',
    });
    const { project } = await loadProject({
      flags: { skill: 'mine.md' },
      config: 'deep/skillopt.config.json',
      cwd: folder.path,
    });
    expect(project.tasks).toBe(join(folder.path, 'deep/t.jsonl'));
    expect(project.env).toBe(join(folder.path, 'deep/e.mjs'));
    expect(project.skill).toBe(join(folder.path, 'mine.md'));
  });

  it('can be written as a module', async () => {
    using folder = tempFolder({ 'skillopt.config.mjs': 'export default { batchSize: 2 + 2 };' });
    expect((await loadProject({ flags: {}, cwd: folder.path })).project.batchSize).toBe(4);
  });

  it('needs no file when the flags say what to train on', async () => {
    using folder = tempFolder();
    const { project } = await loadProject({ flags: { tasks: 't.jsonl' }, cwd: folder.path });
    expect(project.tasks).toBe(join(folder.path, 't.jsonl'));
    await expect(loadProject({ flags: {}, cwd: folder.path })).rejects.toThrow('no project in');
  });

  it('may still name a removed key at the value that asks for nothing', async () => {
    using folder = tempFolder({ 'skillopt.config.yaml': 'tasks: t.jsonl\nfinalists: 1' });
    const { project } = await loadProject({ flags: {}, cwd: folder.path });
    expect(project).not.toHaveProperty('finalists');
  });

  it('is one file, not two', () => {
    using folder = tempFolder({ 'skillopt.config.yaml': '', 'skillopt.config.json': '{}' });
    expect(() => findConfigFile(folder.path)).toThrow('skillopt.config.yaml and skillopt.config.json');
  });

  it.each([
    [
      'bachSize: 3\nzebra: 1',
      'yaml:1: unknown key bachSize — did you mean batchSize?\nskillopt.config.yaml:2: unknown key zebra',
    ],
    ['batch_size: 3\nnumEpochs: 1', 'unknown key batch_size — did you mean batchSize?'],
    ['batchSize: 3\nfinalists: 2', 'skillopt.config.yaml:2: finalists was removed, since'],
    ['batchSize: many', 'skillopt.config.yaml:1: batchSize: expected a number, got "many"'],
    ['minEditBudget: 9', 'minEditBudget: must not exceed editBudget (4), got 9'],
    ['name: ../up', 'name: expected letters, digits'],
    ['promptOverrides: { anlyst: x }', 'promptOverrides'],
    ['- a list', 'expected keys and values'],
    ['a: [1', 'skillopt.config.yaml cannot be read'],
    ['target: { provider: openai, model: m, apiKey: sk-live-123 }', 'target.apiKey looks like a secret'],
    ['extras: { auth: { token: abc } }', 'extras.auth.token looks like a secret'],
    [
      'target: { provider: openai, model: m, apiKeyEnv: sk-live-123 }',
      'target.apiKeyEnv must be the name of an environment variable',
    ],
    ['target: "compatible:m@https://me:sk-live-123@host/v1"', 'target looks like a secret'],
  ])('refuses the file %j', async (text, message) => {
    using folder = tempFolder({ 'skillopt.config.yaml': text });
    const error = await loadProject({ flags: {}, cwd: folder.path }).catch((error: Error) => error as Error);
    expect(error).toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining(message) });
    expect(JSON.stringify(error) + String(error)).not.toContain('sk-live-123');
  });

  const known = 'sk-ant-api03-Zq9x7W2f0aQ2mX7bL0';

  it.each([
    [
      'target: { provider: compatible, model: m, baseURL: "http://h/v1", extraBody: { auth: KEY } }',
      'target.extraBody.auth',
    ],
    ['target: { provider: compatible, model: m, baseURL: "http://h/v1?api_key=KEY" }', 'target.baseURL'],
    ['target: { provider: compatible, model: m, baseURL: "http://h/v1?v=1&access_token=KEX" }', 'target.baseURL'],
    ['target: "compatible:m@HTTP://me:KEX@host/v1"', 'target'],
    ['extras: { note: KEY }', 'extras.note'],
    ['extras: { notes: ["ask with KEY here"] }', 'extras.notes.0'],
    ['extras: { database: "postgres://me:KEX@host/db" }', 'extras.database'],
    ['promptOverrides: { ranking: "Sign in with KEY." }', 'promptOverrides.ranking'],
    ['env: { note: "ask with KEY here" }', 'env.note'],
    ['env: { search_api_url: "HTTPS://me:KEX@host" }', 'env.search_api_url'],
  ])('holds no key of a known form: %j', async (text, name) => {
    using folder = tempFolder({
      'skillopt.config.yaml': text.replaceAll('KEY', known).replaceAll('KEX', 'hush-of-mine'),
    });
    const error = await loadProject({ flags: {}, cwd: folder.path }).catch((error: Error) => error as Error);
    const message = `skillopt.config.yaml:1: ${name} looks like a secret`;
    expect(error).toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining(message) });
    expect(JSON.stringify(error) + String(error)).not.toMatch(/Zq9x|hush-of-mine/);
  });

  it.each([
    'extras: { note: "sk-your-key-here", other: "sk-xxxxxxxxxxxxxxxxxxxx", third: "task-assessment-matrix" }',
    'extras: { database: "postgres://me:<PASSWORD>@host/db", repository: "ssh://git@host/x.git" }',
    'target: { provider: azure, model: m, baseURL: "https://a.example/x?api-version=2024-12-01&top_k=1" }',
    'promptOverrides: { ranking: "Keys begin with sk- or ghp_. Write https://host/?api_key=<KEY>. A token=end." }',
    'extras: { pass: first, digest: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 }',
  ])('may hold what only looks a little like one: %j', async (text) => {
    using folder = tempFolder({ 'skillopt.config.yaml': text });
    await expect(loadProject({ flags: {}, cwd: folder.path })).resolves.toBeDefined();
  });

  it('may limit tokens and name the variable of a key', async () => {
    const text = 'optimizerMaxCompletionTokens: 9\ntarget: { provider: openai, model: m, apiKeyEnv: MY_KEY }';
    using folder = tempFolder({ 'skillopt.config.yaml': text });
    const { project } = await loadProject({ flags: {}, cwd: folder.path });
    expect(project).toMatchObject({ optimizerMaxCompletionTokens: 9, target: { apiKeyEnv: 'MY_KEY' } });
  });
});

describe('wiring a project', () => {
  const files = {
    'skillopt.config.yaml':
      'tasks: tasks.jsonl\nskill: SKILL.md\nbatchSize: 5\npromptOverrides: { ranking: r.md, merge_final: text }\n',
    'tasks.jsonl': TASKS,
    'SKILL.md': 'be brief',
    'r.md': 'rank them',
  };

  it('loads tasks, skill and prompts, and keeps the run beside the file', async () => {
    using folder = tempFolder(files);
    const wiring = await wireRun(await loadProject({ flags: {}, cwd: folder.path }));
    expect(wiring).toMatchObject({
      path: join(folder.path, 'runs/simple-qa'),
      initialSkill: 'be brief',
      promptOverrides: { ranking: 'rank them', merge_final: 'text' },
      config: { batchSize: 5, extras: {} },
    });
    expect(Object.keys(wiring.config)).not.toContain('tasks');
    expect(await wiring.env.getItems('val')).toMatchObject([{ id: 'val' }]);
  });

  it('names the run as the project does', async () => {
    using folder = tempFolder(files);
    const wire = async (flags: object) =>
      (await wireRun(await loadProject({ flags: { ...flags }, cwd: folder.path }))).path;
    expect(await wire({ name: 'second' })).toBe(join(folder.path, 'runs/second'));
    expect(await wire({ outRoot: 'elsewhere' })).toBe(join(folder.path, 'elsewhere'));
  });

  it.each([
    [{ skill: 'none.md' }, 'SKILL_NOT_FOUND', 'none.md does not exist'],
    [{ env: 'zork' }, 'ENV_INVALID', 'unknown environment "zork"'],
    [{ env: './none.mjs' }, 'ENV_INVALID', 'none.mjs does not exist'],
    [{ tasks: 'none.jsonl' }, 'TASKS_INVALID', 'none.jsonl'],
  ])('refuses to wire %j', async (flags, code, message) => {
    using folder = tempFolder(files);
    const wiring = loadProject({ flags, cwd: folder.path }).then(wireRun);
    await expect(wiring).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
  });
});
