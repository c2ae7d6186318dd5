import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { SkillOptTrainer } from 'skillopt';
import { openaiCompatible } from 'skillopt/models';
import { startFakeLLM } from 'skillopt/testing';
import { expect, it } from 'vitest';
import { hideSecrets } from '../../../../src/core/guard/index.ts';
import { levelOf, levelsEnv, levelsOptimizer } from '../../../support/levels.ts';
import { tempFolder } from '../../../support/temp-folder.ts';

const jwt = 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcDEF123';
const random = 'q7Jx0vZk2LmN9pRs4TuW6yB8cD1eF3gH5';

it.each([
  [{ api_key: 'any' }, { api_key: '(secret)' }],
  [{ apiKey: 'any', nested: { clientSecret: 'x', list: [{ password: 'y' }] } }, undefined],
  [
    { headers: { Authorization: 'Bearer abc', Cookie: 'id=1' } },
    { headers: { Authorization: '(secret)', Cookie: '(secret)' } },
  ],
  [{ anything: 'sk-abcdefghijkl0123' }, { anything: '(secret)' }],
  [{ anything: `Bearer ${random}` }, { anything: '(secret)' }],
  [{ anything: jwt }, { anything: '(secret)' }],
])('a credential is not written down: %o', (value, hidden) => {
  if (hidden) expect(hideSecrets(value)).toEqual(hidden);
  expect(JSON.stringify(hideSecrets(value))).not.toMatch(/any"|"x"|"y"|abc|id=1|eyJ/);
});

it('what is perhaps a secret stays one of its own, so that another is another setting', () => {
  const hide = (stop_token: string, run: string) => hideSecrets({ stop_token, run });
  expect(hide('</s>', random)).toEqual(hide('</s>', random));
  expect(hide('</s>', random)).not.toEqual(hide('<end>', random));
  expect(hide('</s>', random)).not.toEqual(hide('</s>', `${random}0`));
  expect(JSON.stringify(hide('</s>', random))).not.toContain(random);
});

it.each(['pass', 'db_pass', 'dbPass', 'pwd', 'passphrase'])('%s may be a password, and is not written down', (name) => {
  const hide = (value: unknown) => JSON.stringify(hideSecrets({ extras: { [name]: value } }));
  expect(hide('hunter2')).not.toContain('hunter2');
  expect(hide('hunter2')).not.toBe(hide('hunter3'));
  expect(hide(2)).toContain('2');
});

it.each([
  [{ max_tokens: 7, keyword: 'blue', tokens: 'a b', style: 'short', model: 'gpt-4o-mini-2024-07-18', on: true }],
  [
    {
      path: '/data/some/long/folder/with/many/parts/tasks.jsonl',
      text: 'a sentence of ordinary words, and longer than thirty-two',
    },
  ],
])('the rest stays as it is: %o', (value) => {
  expect(hideSecrets(value)).toEqual(value);
});

it('no planted key survives, wherever it stands', () => {
  const key = fc.stringMatching(/^sk-[a-zA-Z0-9]{20,40}$/);
  fc.assert(
    fc.property(key, fc.object({ values: [fc.string(), fc.integer()] }), (secret, around) => {
      const shown = JSON.stringify(hideSecrets({ ...around, here: { deep: [secret, { api_key: secret }] } }));
      expect(shown).not.toContain(secret);
      expect(JSON.stringify(hideSecrets(JSON.parse(shown)))).toBe(shown);
    }),
  );
});

it('a run keeps no secret of extras or extraBody, and continues with another key', async () => {
  await using server = await startFakeLLM(({ messages }) => String(levelOf(messages[0]!.content)));
  using folder = tempFolder({});
  const outRoot = join(folder.path, 'run');
  const train = (key: string, style = 'short') => {
    const target = openaiCompatible({ model: 'm', baseURL: server.baseURL, extraBody: { api_key: key, style } });
    const config = {
      outRoot,
      numEpochs: 1,
      batchSize: 9,
      extras: { service: { token: 'same', password: key }, pass: 'hunter2' },
    };
    return new SkillOptTrainer({ env: levelsEnv(), target, optimizer: levelsOptimizer(), config }).train();
  };
  await train('first-key-of-all');
  const written = await Promise.all(
    ['events.jsonl', 'config.json'].map((name) => readFile(join(outRoot, name), 'utf8')),
  );
  for (const text of written) {
    expect(text).toContain('(secret)');
    expect(text).not.toMatch(/first-key-of-all|hunter2/);
  }
  expect(server.requests.at(-1)).toMatchObject({ api_key: 'first-key-of-all' });
  expect((await train('second-key')).isDone).toBe(true);
  await expect(train('second-key', 'long')).rejects.toMatchObject({ code: 'RUN_MISMATCH' });
});

it('a document among the settings of a model is no key, and stops nothing', () => {
  const document = `sk-${'a1'.repeat(500_000)}`;
  const create = () =>
    openaiCompatible({ model: 'm', baseURL: 'http://127.0.0.1:9/v1', extraBody: { password: document } });
  expect(create).not.toThrow();
});
