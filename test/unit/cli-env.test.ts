import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { guardEnv } from '../../src/cli/project/guard-env.ts';
import { loadEnv } from '../../src/cli/project/load-env.ts';
import { loadProject } from '../../src/cli/project/load-project.ts';
import { tempFolder } from './cli-temp-folder.ts';

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
      'must give a list, got number',
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
