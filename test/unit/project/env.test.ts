import { join } from 'node:path';
import { EnvAdapter, envNames, registerEnv } from 'skillopt/envs';
import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../../src/core/contracts/index.ts';
import { guardEnv } from '../../../src/project/env/load-env.ts';
import { loadEnv, loadProject } from '../../../src/project/index.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const guard = (exported: unknown) => guardEnv(exported, { name: 'env.mjs', version: 'v1' });

class Counting {
  readonly name = 'counting';
  readonly #items = [{ id: 'one' }];
  getItems() {
    return this.#items;
  }
  async rolloutOne() {
    return { hard: this.#items.length, soft: 1 };
  }
}

describe('an environment from a module', () => {
  it('may be a class with private fields', async () => {
    const env = guard(new Counting());
    expect(await env.getItems('train')).toEqual([{ id: 'one' }]);
    expect(await env.rolloutOne({} as never)).toEqual({ hard: 1, soft: 1 });
    expect(env.getInitialSkill).toBeUndefined();
  });

  it('keeps what stands around the skill, and what it refuses', () => {
    const own = Object.assign(new Counting(), { surroundings: 'A form.', refuseText: (text: string) => `no ${text}` });
    const env = guard(own);
    expect([env.surroundings, env.refuseText?.('x')]).toEqual(['A form.', 'no x']);
    expect(guard(new Counting())).not.toHaveProperty('refuseText');
  });

  it('has the version of its file unless it names one', () => {
    expect(guard(new Counting()).version).toBe('v1');
    expect(guard(Object.assign(new Counting(), { version: 'mine' })).version).toBe('mine');
  });

  it.each([
    [undefined, 'got none'],
    [null, 'got null'],
    [{}, 'got an empty object'],
    [{ name: 'x', items: [] }, 'got an object with name, items'],
    ['env', 'got string'],
  ])('is refused when it is %j', (exported, message) => {
    expect(() => guard(exported)).toThrow(message);
  });

  it('is to blame for what it throws while tasks are loaded', async () => {
    const broken = {
      name: 'x',
      rolloutOne: async () => ({}),
      getItems: () => Promise.reject(new Error('no database')),
    };
    const problem = { code: 'ENV_INVALID', message: 'env.mjs: getItems failed: no database' };
    await expect(guard(broken).getItems('train')).rejects.toMatchObject(problem);
    await expect(guard({ ...broken, getItems: () => 3 }).getItems('val')).rejects.toThrow(
      'must return a list, got number',
    );
  });

  const load = async (source: string) => {
    using folder = tempFolder({ 'env.mjs': source, 'tasks.txt': 'two' });
    const flags = { env: join(folder.path, 'env.mjs'), tasks: 'tasks.txt' };
    const env = await loadEnv(await loadProject({ flags, cwd: folder.path }));
    return { env, items: await env.getItems('train') };
  };

  it('may be a function of the library, and then needs no import', async () => {
    const { env, items } = await load(`
      export default async ({ defineEnv, z, SimpleQAEnv, splitItems, project }) => defineEnv({
        name: 'made', schema: z.object({ id: z.string() }),
        items: { train: [{ id: [typeof SimpleQAEnv, typeof splitItems, project.tasks.split('/').at(-1)].join(' ') }] },
        rolloutOne: async () => ({ hard: 1, soft: 1 }),
      });`);
    expect(items).toEqual([{ id: 'function function tasks.txt' }]);
    expect(env.version).toMatch(/^[0-9a-f]{16}$/);
  });

  it('gets the library that is running, so that its errors are known here', async () => {
    const own = load(`export default ({ SkillError }) => { throw new SkillError('USAGE', 'as it was thrown') };`);
    await expect(own).rejects.toMatchObject({ code: 'USAGE', message: 'as it was thrown' });
  });

  it('gets another version when its text changes, so that no stale rollout is reused', async () => {
    const source = (answer: number) =>
      `export default { name: 'x', getItems: () => [], rolloutOne: async () => ({ hard: ${answer}, soft: 0 }) };`;
    const [one, same, other] = [await load(source(0)), await load(source(0)), await load(source(1))];
    expect(one.env.version).toBe(same.env.version);
    expect(one.env.version).not.toBe(other.env.version);
  });

  it('that cannot be loaded is named', async () => {
    await expect(load('export default 1 +')).rejects.toMatchObject({ code: 'ENV_INVALID' });
    await expect(load('export default () => { throw new Error("no licence") }')).rejects.toThrow(
      'env.mjs cannot be loaded: no licence',
    );
  });
});

describe('an adapter from a module', () => {
  const adapterSource = (exported: string) => `
    import { EnvAdapter, SplitDataLoader } from 'skillopt/envs';
    class Quiz extends EnvAdapter {
      loader = new SplitDataLoader();
      getDataloader() { return this.loader; }
      buildTrainEnv(size, seed, { payload }) { return payload; }
      buildEvalEnv(count, split, seed, { payload }) { return payload; }
      async rollout(items) { return items.map(({ id }) => ({ id, hard: 1, soft: 1 })); }
      getTaskTypes() { return ['quiz']; }
    }
    export default ${exported};`;

  it.each(['new Quiz()', 'Quiz', '() => new Quiz()', '({ adapterEnv }) => adapterEnv(new Quiz(), { name: "quiz" })'])(
    'may be %s, and finds the project’s tasks',
    async (exported) => {
      const rows = ['a', 'b', 'c', 'd'].map((id) => JSON.stringify({ id })).join('\n');
      using folder = tempFolder({ 'quiz.mjs': adapterSource(exported), 'tasks.jsonl': rows });
      const flags = { env: './quiz.mjs', tasks: 'tasks.jsonl', splitRatio: '1:1:2' };
      const env = await loadEnv(await loadProject({ flags, cwd: folder.path }));
      expect(env.name).toBe('quiz');
      expect(env.version).toMatch(/^[0-9a-f]{16}$/);
      // What a function wraps itself is its own business, and so is its data.
      const extras = exported.includes('adapterEnv') ? { dataPath: join(folder.path, 'tasks.jsonl') } : {};
      await env.setup!(parseConfig({ extras }));
      const items = await env.getItems('train');
      const context = {
        items,
        skill: '',
        extras,
        phase: 'train',
        sampleIndex: 0,
        signal: AbortSignal.any([]),
      } as const;
      expect(await env.rolloutMany!(context as never)).toEqual(items.map(({ id }) => ({ id, hard: 1, soft: 1 })));
      expect(env.getTaskTypes!()).toEqual(['quiz']);
      await env.close!();
    },
  );
});

describe('an environment by name', () => {
  const load = async (name: string) => loadEnv(await loadProject({ flags: { env: name }, cwd: '.' }));

  class Simulator extends EnvAdapter {
    override readonly episodes = { train: 2, val: 1, test: 1 };
    buildTrainEnv = () => undefined;
    buildEvalEnv = () => undefined;
    rollout = async () => [];
    getTaskTypes = () => ['game'];
  }

  it('may be registered: an environment or an adapter', async () => {
    registerEnv('counting', () => new Counting());
    registerEnv('simulator', async () => new Simulator());
    expect(envNames()).toEqual(['qa', 'counting', 'simulator']);
    expect((await load('counting')).name).toBe('counting');
    const simulator = await load('simulator');
    await simulator.setup!(parseConfig({ batchSize: 2, seed: 1 }));
    expect((await simulator.getItems('train')).map((item) => item.id)).toEqual(['train-2-0', 'train-2-1']);
    expect(() => registerEnv('qa', () => new Counting())).toThrow('called "qa" is there already');
    expect(() => registerEnv('./x.mjs', () => new Counting())).toThrow('expected an environment name');
  });

  it.each(['searchqa', 'spreadsheetbench'])('that is the benchmark %s asks for its data', async (name) => {
    await expect(load(name)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringMatching(`^${name} needs data, and none is named`),
      hint: expect.stringContaining(`skillopt bench pull ${name}`),
    });
  });

  it('that is unknown is an error with the names that there are', async () => {
    await expect(load('qaa')).rejects.toMatchObject({
      code: 'ENV_INVALID',
      message: 'command line: unknown environment "qaa" — did you mean qa?',
      hint: expect.stringContaining('There are: qa'),
    });
  });

  it('qa reads data in SkillOpt’s layout too', async () => {
    const item = (id: string) => JSON.stringify([{ id, question: 'q', context: 'c', answers: ['a'] }]);
    using folder = tempFolder({ 'train/a.json': item('1'), 'val/a.json': item('2'), 'test/a.json': item('3') });
    const { project, ...rest } = await loadProject({ flags: { env: 'qa' }, cwd: '.' });
    const env = await loadEnv({ ...rest, project: { ...project, splitDir: folder.path } as typeof project });
    expect(await env.getItems('valid_seen')).toEqual([{ id: '2', question: 'q', context: 'c', answers: ['a'] }]);
  });
});
