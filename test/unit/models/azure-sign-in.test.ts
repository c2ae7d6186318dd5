import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { resolveModel } from '../../../src/project/index.ts';
import { startFakeLLM } from '../../../src/testing/index.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const messages = [{ role: 'user' as const, content: 'hello' }];
const inAnHour = () => Math.round(Date.now() / 1000) + 3_600;

/** A command az that notes what it was asked, and then does `body`. Found with the variables in `env`. */
function fakeAz(body: string) {
  const folder = tempFolder({ az: `#!/bin/sh\necho "$*" >> "${'$'}{0%/*}/asked"\n${body}\n`, asked: '' });
  chmodSync(join(folder.path, 'az'), 0o755);
  return {
    env: { PATH: `${folder.path}:${dirname(process.execPath)}:/usr/bin:/bin` },
    asked: () => readFileSync(join(folder.path, 'asked'), 'utf8').trim().split('\n').filter(Boolean),
    write: (file: string, text: string) => writeFileSync(join(folder.path, file), text),
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  };
}

const print = (token: string, expires: object) => `echo '${JSON.stringify({ accessToken: token, ...expires })}'`;

/** What the server was sent to sign in with, for `calls` calls. */
async function signIns(block: object, env: Record<string, string>, calls = 1) {
  await using server = await startFakeLLM(() => 'hi');
  const spec = { provider: 'azure', model: 'm', baseURL: server.baseURL, ...block };
  const model = await resolveModel(spec, { role: 'target', env, isSpecOwn: true });
  for (let call = 0; call < calls; call++) await model.complete({ messages });
  return server.headers.map((headers) => headers.authorization ?? headers['api-key']);
}

describe('azure signs in', () => {
  it.each([
    ['with a key', {}, { AZURE_OPENAI_API_KEY: 'a-key' }, 'a-key'],
    ['with the key that is named', { apiKeyEnv: 'MINE' }, { MINE: 'mine', AZURE_OPENAI_AD_TOKEN: 'a-token' }, 'mine'],
    ['with a token', {}, { AZURE_OPENAI_AD_TOKEN: 'a-token', AZURE_API_KEY: 'a-key' }, 'Bearer a-token'],
    ['as told: key', { auth: 'key' }, { AZURE_OPENAI_AD_TOKEN: 'a-token', AZURE_API_KEY: 'a-key' }, 'a-key'],
    ['as told: entra', { auth: 'entra' }, { AZURE_OPENAI_AD_TOKEN: 'a-token', AZURE_API_KEY: 'b' }, 'Bearer a-token'],
  ])('%s', async (_how, block, env, expected) => {
    expect(await signIns(block, env)).toEqual([expected]);
  });

  it('as the account that is signed in to the Azure CLI, and keeps the token while it lasts', async () => {
    using az = fakeAz(print('from-az', { expires_on: inAnHour() }));
    expect(await signIns({}, az.env, 3)).toEqual(Array(3).fill('Bearer from-az'));
    expect(az.asked()).toEqual([
      'account get-access-token --resource https://cognitiveservices.azure.com --output json',
    ]);
  });

  it('by the Azure CLI when told so, although there is a key', async () => {
    using az = fakeAz(print('from-az', { expiresOn: new Date(Date.now() + 3_600_000).toISOString() }));
    const env = { ...az.env, AZURE_OPENAI_API_KEY: 'a-key' };
    expect(await signIns({ auth: 'entra' }, env)).toEqual(['Bearer from-az']);
    expect(await signIns({}, env)).toEqual(['a-key']);
    expect(az.asked()).toHaveLength(1);
  });

  it('with a new token before the old one expires', async () => {
    using az = fakeAz(print('short-lived', { expires_on: Math.round(Date.now() / 1000) + 120 }));
    expect(await signIns({}, az.env, 2)).toEqual(Array(2).fill('Bearer short-lived'));
    expect(az.asked()).toHaveLength(3);
  });
});

describe('azure that cannot sign in says what to do, before any call', () => {
  const failure = (block: object, env: Record<string, string>) =>
    resolveModel({ provider: 'azure', model: 'm', resource: 'contoso', ...block }, { role: 'target', env });

  it('when nobody is signed in to the Azure CLI', async () => {
    using az = fakeAz(`echo "ERROR: Please run 'az login' to setup account." >&2; exit 1`);
    await expect(failure({}, az.env)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: "the Azure CLI gave no token: ERROR: Please run 'az login' to setup account.",
      hint: expect.stringMatching(/^Run: az login\. Or export AZURE_OPENAI_AD_TOKEN=/),
    });
  });

  it('when the Azure CLI answers with something else', async () => {
    using az = fakeAz('echo Welcome');
    await expect(failure({}, az.env)).rejects.toMatchObject({ message: expect.stringContaining('printed no JSON') });
  });

  it('when it is told to and there is no Azure CLI', async () => {
    await expect(failure({ auth: 'entra' }, { AZURE_API_KEY: 'a-key', PATH: '' })).rejects.toMatchObject({
      message:
        'the target (azure) cannot sign in: AZURE_OPENAI_AD_TOKEN is not set, and the command az is not installed',
      hint: expect.stringContaining('run az login'),
    });
  });

  it('when it is told to use a key and there is none', async () => {
    await expect(failure({ auth: 'key' }, { AZURE_OPENAI_AD_TOKEN: 'a-token' })).rejects.toMatchObject({
      message: expect.stringContaining('needs a key'),
    });
  });
});

it('a token that cannot be had in mid-run stops the run, with what to do', async () => {
  using az = fakeAz(`[ -s "${'$'}{0%/*}/signed-out" ] && exit 1\n${print('once', { expires_on: 1 })}`);
  await using server = await startFakeLLM(() => 'hi');
  const spec = { provider: 'azure', model: 'm', baseURL: server.baseURL };
  const model = await resolveModel(spec, { role: 'target', env: az.env, isSpecOwn: true });
  await model.complete({ messages });
  az.write('signed-out', 'yes');
  await expect(model.complete({ messages })).rejects.toMatchObject({
    name: 'ModelCallError',
    isFatal: true,
    hint: expect.stringContaining('az login'),
  });
});
