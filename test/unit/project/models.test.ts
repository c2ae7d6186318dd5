import { describe, expect, it } from 'vitest';
import { readEnvFile, resolveModel } from '../../../src/project/index.ts';
import { startFakeLLM } from '../../../src/testing/index.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const keys = {
  MY_KEY: 'my-key-value',
  OPENAI_API_KEY: 'openai-key',
  AZURE_API_KEY: 'azure-key',
  ANTHROPIC_API_KEY: 'anthropic-key',
  GEMINI_API_KEY: 'gemini-key',
  MINIMAX_API_KEY: 'minimax-key',
};
const target = { role: 'target', env: keys } as const;
const id = async (spec: Parameters<typeof resolveModel>[0], options = {}) =>
  (await resolveModel(spec, { ...target, ...options })).id;

describe('a model whose key is refused', () => {
  it.each([
    [{ provider: 'openai', model: 'm' }, 'OPENAI_API_KEY'],
    [{ provider: 'anthropic', model: 'm' }, 'ANTHROPIC_API_KEY'],
    [{ provider: 'google', model: 'm' }, 'GEMINI_API_KEY'],
    [{ provider: 'azure', model: 'm' }, 'AZURE_API_KEY'],
    [{ provider: 'minimax', model: 'm' }, 'MINIMAX_API_KEY'],
    [{ provider: 'compatible', model: 'm', apiKeyEnv: 'MY_KEY' }, 'MY_KEY'],
  ])('names the variable that it came from, and not the key: %j', async (spec, variable) => {
    await using server = await startFakeLLM(() => ({ status: 401, content: 'no' }));
    const model = await resolveModel({ ...spec, baseURL: server.baseURL }, { ...target, isSpecOwn: true });
    const asking = model.complete({ messages: [{ role: 'user', content: 'q' }] });
    const error = await asking.catch((thrown: { message: string; hint: string }) => thrown);
    expect(error).toMatchObject({
      status: 401,
      hint: expect.stringMatching(`^Check ${variable},? .*holds the API key`),
    });
    for (const key of Object.values(keys)) expect(JSON.stringify(error)).not.toContain(key);
  });
});

it('of a server that is asked without a key is named where it is missing', async () => {
  await using server = await startFakeLLM(() => ({ status: 401, content: 'no' }));
  for (const spec of [`compatible:m@${server.baseURL}`, `qwen:m@${server.baseURL}`]) {
    const asking = (await resolveModel(spec, target)).complete({ messages: [{ role: 'user', content: 'q' }] });
    await expect(asking).rejects.toMatchObject({ hint: expect.stringMatching(/^No key was sent .*apiKeyEnv: MY_KEY/) });
  }
});

describe('a model by name', () => {
  it('is simulated in either role, with knobs', async () => {
    expect(await id('simulated')).toContain('sim-target');
    expect(await id('simulated', { role: 'optimizer' })).toContain('sim-optimizer');
    expect(await id({ provider: 'simulated', noise: 0.5 })).toContain('noise=0.5');
  });

  it.each([
    ['openai:gpt:large', 'openai:gpt:large@api.openai.com/v1?structuredOutput=auto'],
    ['anthropic:claude', 'anthropic:claude@api.anthropic.com/v1?structuredOutput=auto'],
    ['anthropic:claude-3-5-haiku-latest', 'anthropic:claude-3-5-haiku-latest@api.anthropic.com/v1'],
    ['google:gemini', 'google:gemini@generativelanguage.googleapis.com/v1beta?structuredOutput=auto'],
    ['azure:mine@contoso', 'azure:mine@contoso.openai.azure.com/openai?structuredOutput=auto'],
    ['azure:mine@https://contoso.openai.azure.com', 'azure:mine@contoso.openai.azure.com/openai?structuredOutput=auto'],
    ['qwen:Qwen/Qwen3.5-4B', 'qwen:Qwen/Qwen3.5-4B@localhost:8000/v1?temperature=0.7'],
    ['qwen:q@1@http://127.0.0.1:9000/v1', 'qwen:q@1@127.0.0.1:9000/v1?temperature=0.7'],
    ['minimax:MiniMax-M3', 'minimax:MiniMax-M3@api.minimax.io/v1?temperature=0.7&reasoning_split=true'],
    ['openai_chat:gpt', 'openai:gpt@api.openai.com/v1?structuredOutput=auto'],
    ['azure_openai:mine@contoso', 'azure:mine@contoso.openai.azure.com/openai?structuredOutput=auto'],
    ['openai_compatible:m@http://h/v1', 'compatible:m@h/v1'],
    [
      { provider: 'openai_chat', model: 'gpt', reasoningEffort: 'low' },
      'openai:gpt@api.openai.com/v1?reasoningEffort=low&structuredOutput=auto',
    ],
    [
      { provider: 'azure_openai', model: 'mine', resource: 'contoso', apiVersion: '2024-12-01-preview' },
      'azure:mine@contoso.openai.azure.com/openai?apiVersion=2024-12-01-preview&structuredOutput=auto',
    ],
    [
      { provider: 'anthropic', model: 'claude', thinking: { budgetTokens: 2000 } },
      'anthropic:claude@api.anthropic.com/v1?thinking={"budgetTokens":2000}&structuredOutput=auto',
    ],
    [
      { provider: 'google', model: 'g', thinkingBudget: 0, structuredOutput: 'off' },
      'google:g@generativelanguage.googleapis.com/v1beta?thinkingBudget=0',
    ],
    [
      { provider: 'qwen_chat', model: 'q', thinkingMode: 'disabled', temperature: 0 },
      'qwen:q@localhost:8000/v1?temperature=0&chat_template_kwargs={"enable_thinking":false}',
    ],
    [
      { provider: 'minimax_chat', model: 'm', region: 'cn', temperature: 1 },
      'minimax:m@api.minimaxi.com/v1?temperature=1&reasoning_split=true',
    ],
    [
      { provider: 'compatible', model: 'm', baseURL: 'http://h/v1', structuredOutput: 'auto' },
      'compatible:m@h/v1?structuredOutput=auto',
    ],
    [
      { provider: 'compatible', model: 'm', baseURL: 'http://h/v1', extraBody: { top_k: 1 } },
      'compatible:m@h/v1?top_k=1',
    ],
  ])('%j is %s', async (spec, expected) => {
    expect(await id(spec)).toBe(expected);
  });

  it.each([
    ['openai', 'authorization', 'Bearer openai-key'],
    ['azure', 'api-key', 'azure-key'],
    ['anthropic', 'x-api-key', 'anthropic-key'],
    ['google', 'x-goog-api-key', 'gemini-key'],
    ['minimax', 'authorization', 'Bearer minimax-key'],
    ['qwen', 'authorization', undefined],
    ['compatible', 'authorization', undefined],
  ])('%s sends its own key, or the one that is named', async (provider, header, value) => {
    await using server = await startFakeLLM(['hi', 'hi']);
    const block = { provider, model: 'm', baseURL: server.baseURL };
    const messages = [{ role: 'user' as const, content: 'hello' }];
    await (await resolveModel(block, { ...target, isSpecOwn: true })).complete({ messages });
    await (await resolveModel({ ...block, apiKeyEnv: 'MY_KEY' }, target)).complete({ messages });
    expect(server.headers[0]?.[header]).toBe(value);
    expect(server.headers[1]?.[header]).toMatch(/^(Bearer )?my-key-value$/);
  });

  it('finds the resource of Azure in the environment', async () => {
    const env = { ...keys, AZURE_RESOURCE_NAME: 'contoso' };
    expect(await id('azure:mine', { env })).toContain('azure:mine@contoso.openai.azure.com/openai?');
    const endpoint = { ...keys, AZURE_OPENAI_ENDPOINT: 'https://fabrikam.openai.azure.com/' };
    expect(await id('azure:mine', { env: endpoint })).toContain('azure:mine@fabrikam.openai.azure.com/openai?');
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
    [
      'opnai:x',
      'unknown provider "opnai" — did you mean openai?',
      'simulated, openai:MODEL, azure:DEPLOYMENT@RESOURCE, anthropic:MODEL',
    ],
    ['gpt-4o-mini', 'unknown provider "gpt-4o-mini" — did you mean openai:gpt-4o-mini?', 'openai:MODEL'],
    ['claude-sonnet-4-5', 'did you mean anthropic:claude-sonnet-4-5?', 'anthropic:MODEL'],
    ['qwen_cat:x', 'unknown provider "qwen_cat" — did you mean qwen_chat?', 'qwen:MODEL@URL'],
    ['codex_exec', 'codex_exec is not a chat model: it runs an agent', 'anthropic:MODEL'],
    [{ provider: 'claude_code_exec' }, 'claude_code_exec is not a chat model: it runs an agent', 'anthropic:MODEL'],
    ['azure:m', 'needs to know which resource', 'AZURE_OPENAI_ENDPOINT'],
    [{ provider: 'minimax', model: 'm', region: 'eu' }, 'region', ''],
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
      hint: 'Set it: export OPENAI_API_KEY=… Or write OPENAI_API_KEY=… into the file .env beside the project file.',
    });
    const either = resolveModel('azure_openai:m@contoso', { role: 'target', env: { AZURE_API_KEY: '' } });
    await expect(either).rejects.toMatchObject({
      message:
        'the target (azure) cannot sign in: none of AZURE_OPENAI_API_KEY, AZURE_API_KEY, AZURE_OPENAI_AD_TOKEN is set, and the command az is not installed',
      hint: expect.stringMatching(/export AZURE_OPENAI_API_KEY=….*az login/),
    });
  });
});

describe('the file .env beside the project', () => {
  it('holds keys, which the environment overrides', async () => {
    await using server = await startFakeLLM(['hi', 'hi']);
    using folder = tempFolder({ '.env': 'OPENAI_API_KEY=from-file\n' });
    const block = { provider: 'openai', model: 'm', baseURL: server.baseURL, apiKeyEnv: 'OPENAI_API_KEY' };
    for (const env of [{}, { OPENAI_API_KEY: 'from-shell' }]) {
      const model = await resolveModel(block, { role: 'target', env, directory: folder.path });
      await model.complete({ messages: [{ role: 'user', content: 'hello' }] });
    }
    expect(server.headers.map(({ authorization }) => authorization)).toEqual(['Bearer from-file', 'Bearer from-shell']);
    expect(process.env.OPENAI_API_KEY).not.toBe('from-file');
  });

  it.each([
    ['A=plain', 'plain'],
    ['  export A = spaced  ', 'spaced'],
    ['A=a#b # a comment', 'a#b'],
    ['A=# only a comment', ''],
    ['A="two words" # a comment', 'two words'],
    ['A="a # b"', 'a # b'],
    [String.raw`A="line\nline \"quoted\" \\ end"`, 'line\nline "quoted" \\ end'],
    [String.raw`A='as \n is $HOME'`, String.raw`as \n is $HOME`],
    ["A='don\"t'", 'don"t'],
    ['A="half', '"half'],
    ['A=first\nA=last', 'last'],
    ['# A=comment', undefined],
    ['no assignment\r\nA=crlf\r\n', 'crlf'],
    ['\uFEFFA=after a mark', 'after a mark'],
    ['A=', ''],
    ['A=b=c', 'b=c'],
    ['1A=x', undefined],
  ])('%j makes A %j', async (text, value) => {
    using folder = tempFolder({ '.env': text });
    expect((await readEnvFile(folder.path)).A).toBe(value);
  });

  it('need not be there, and may be a folder', async () => {
    using folder = tempFolder({ 'inner/.env/file': '' });
    expect(await readEnvFile(folder.path)).toEqual({});
    expect(await readEnvFile(`${folder.path}/inner`)).toEqual({});
  });
});
