import { describe, expect, it } from 'vitest';
import { resolveModel } from '../../src/cli/project/resolve-model.ts';

const target = { role: 'target', env: { MY_KEY: 'k', OPENAI_API_KEY: 'o' } } as const;
const id = async (spec: Parameters<typeof resolveModel>[0], options = {}) =>
  (await resolveModel(spec, { ...target, ...options })).id;

describe('a model by name', () => {
  it('is simulated in either role, with knobs', async () => {
    expect(await id('simulated')).toContain('sim-target');
    expect(await id('simulated', { role: 'optimizer' })).toContain('sim-optimizer');
    expect(await id({ provider: 'simulated', noise: 0.5 })).toContain('noise=0.5');
  });

  it('is a model of OpenAI', async () => {
    expect(await id('openai:gpt:large')).toBe('compatible:gpt:large@api.openai.com/v1');
  });

  it('is behind any compatible endpoint, as text or as a block', async () => {
    const block = {
      provider: 'compatible',
      model: 'm@1',
      baseURL: 'http://127.0.0.1:8080/v1',
      apiKeyEnv: 'MY_KEY',
      temperature: 0,
    };
    expect(await id('compatible:m@1@http://127.0.0.1:8080/v1')).toBe('compatible:m@1@127.0.0.1:8080/v1');
    expect(await id(block)).toBe('compatible:m@1@127.0.0.1:8080/v1?temperature=0');
  });

  it.each([
    [undefined, 'no target model is named', '--target'],
    ['opnai:x', 'unknown provider "opnai" — did you mean openai?', 'simulated, openai:MODEL, compatible:MODEL@URL'],
    ['toString', 'unknown provider "toString"', 'simulated'],
    [{ model: 'x' }, 'target.provider must be text', 'simulated'],
    ['openai:', 'model', ''],
    ['compatible:m', 'baseURL: expected a URL', ''],
    [{ provider: 'openai', model: 'm', tempature: 1 }, 'unknown key tempature', ''],
    [{ provider: 'simulated', nois: 1 }, 'unknown key nois', ''],
  ])('%j is refused', async (spec, message, hint) => {
    const problem = {
      code: 'CONFIG_INVALID',
      message: expect.stringContaining(message),
      hint: expect.stringContaining(hint),
    };
    await expect(resolveModel(spec, target)).rejects.toMatchObject(problem);
  });

  it('without its key says what to type, before any call', async () => {
    const missing = resolveModel('openai:m', { role: 'optimizer', env: {} });
    await expect(missing).rejects.toMatchObject({
      message: 'the optimizer (openai) needs a key, and the variable OPENAI_API_KEY is not set',
      hint: 'Set it: export OPENAI_API_KEY=…',
    });
  });
});
