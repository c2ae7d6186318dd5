import { describe, expect, it } from 'vitest';
import { redactSecrets } from '../../../../src/core/redact/redact-secrets.ts';
import { redactValue } from '../../../../src/core/redact/redact-value.ts';

const BODY = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj';
const begin = (kind = '') => `-----BEGIN ${kind}PRIVATE${' '}KEY-----`;
const end = (kind = '') => `-----END ${kind}PRIVATE${' '}KEY-----`;

describe('fact 53: what is a secret and what only sounds like one', () => {
  it.each([
    ['token abc123def, retrying', 'token [secret], retrying'],
    [';PWD=x', ';PWD=[secret]'],
    ['{"Pwd":"p"}', '{"Pwd":"[secret]"}'],
  ])('%s is hidden', (text, shown) => {
    expect(redactSecrets(text)).toBe(shown);
  });

  it.each([['token budget exceeded'], ['PWD=/home'], ['max_tokens=512'], ['{"token_budget": 512}']])(
    '%s is kept',
    (text) => {
      expect(redactSecrets(text)).toBe(text);
    },
  );

  it('differs: a key begins where a word begins', () => {
    expect(redactSecrets(`task-${'sk'}-abcdefghij1234`)).toBe('task-[secret]');
    expect(redactSecrets('a risk-assessment-matrix2024 and a task-skeleton')).toBe(
      'a risk-assessment-matrix2024 and a task-skeleton',
    );
  });
});

describe('28: private keys of many lines', () => {
  it.each([
    ['whole', `before\n${begin()}\n${BODY}\n${BODY}\n${end()}\nafter`],
    ['differs: cut off at its end', `before\n${begin('RSA ')}\n${BODY}\n${BODY}\nafter that`],
    ['cut off at its beginning', `before\n${BODY}\n${BODY}\n${end('EC ')}\nafter`],
    ['on one line', `before {"key":"${begin()}\\n${BODY}\\n${BODY}\\n${end()}\\n"} after`],
    ['on one line and cut off', `before {"key":"${begin()}\\n${BODY}\\n${BODY}"} after`],
    ['in a diff', `before\n+${begin()}\n+${BODY}\n+${end()}\n after`],
    ['with line numbers', `before\n  1\t${begin()}\n  2\t${BODY}\n  3\t${BODY}\n  4\tafter that`],
  ])('%s', (_, text) => {
    const shown = redactSecrets(text);
    expect(shown).not.toContain(BODY.slice(0, 12));
    expect(shown).toContain('[secret]');
    expect(shown).toMatch(/^before[\s\S]*after/);
  });

  it('public keys and certificates are kept', () => {
    const block = `-----BEGIN CERTIFICATE-----\n${BODY}\n-----END CERTIFICATE-----`;
    expect(redactSecrets(block)).toBe(block);
  });
});

describe('how far a value goes', () => {
  it.each([
    ['to its quote', 'password = "a b\'c 1" # x', 'password = "[secret]" # x'],
    ['over an escaped quote', '{"password":"a\\"b1","n":1}', '{"password":"[secret]","n":1}'],
    ['to the quote of its own depth', '"{\\"password\\":\\"a1\\\\\\"b\\"}"', '"{\\"password\\":\\"[secret]\\"}"'],
    ['to the end of the line without one', 'password = "a b 1\nnext', 'password = "[secret]\nnext'],
    ['to the next pair', 'Server=a;Password=b1;c2;Encrypt=true', 'Server=a;Password=[secret];Encrypt=true'],
    ['in braces', 'Uid=sa;Pwd={a;b=1};', 'Uid=sa;Pwd={[secret]};'],
    ['over the lines of a block', 'password: |-\n  a1\n  b2\nport: 1', 'password: |-\n  [secret]\nport: 1'],
    ['as JSON, when it was a number', '{"password": 12345678, "n": 1}', '{"password": "[secret]", "n": 1}'],
    ['to the last @ of an address', 'redis://me:a@b:c@host/0', 'redis://me:[secret]@host/0'],
  ])('%s', (_, text, shown) => {
    expect(redactSecrets(text)).toBe(shown);
  });
});

it.each([
  ['password: z.string().min(8)'],
  ['const token = await getToken(user);'],
  ['apiKey: process.env.OPENAI_API_KEY,'],
  ['API_KEY=$OTHER_KEY'],
  ['password: <your-password>'],
  ['{"password": "Passwort"}'],
  ['The password must have at least 12 characters.'],
  ['<label>Password</label>'],
  ["names: ['token', 'password', 'apiKey'],"],
  ['integrity sha512-VwK9GWFAQXCf4FHtx5tMhj103JmmYksmNHVXxdYci2aQ8x7yLm3=='],
  ['commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b'],
  ['we need one more pass: "good" or "bad"'],
])('is kept: %s', (text) => {
  expect(redactSecrets(text)).toBe(text);
});

describe('a value of JSON', () => {
  it('is hidden under a name of a credential, whatever it is', () => {
    const value = { apiKey: 1, Password: ['a'], nested: [{ auth_token: { a: 1 }, secret: null }] };
    expect(redactValue(value)).toEqual({
      apiKey: '[secret]',
      Password: '[secret]',
      nested: [{ auth_token: '[secret]', secret: '[secret]' }],
    });
  });

  it('is kept under other names', () => {
    const value = {
      PWD: '/srv/app',
      max_tokens: 512,
      token_budget: 1,
      keyboard: 'de',
      sortKey: 'name',
      n: null,
      on: true,
    };
    expect(redactValue(value)).toEqual(value);
  });
});
