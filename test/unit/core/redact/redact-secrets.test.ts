import { describe, expect, it } from 'vitest';
import { redactSecrets, redactValue } from '../../../../src/core/guard/index.ts';

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

describe('words that often mean something else', () => {
  it.each([
    ['smtp pass is Abc12345!', 'smtp pass is [secret]'],
    ['db pass Abc12345!', 'db pass [secret]'],
    ['The pass: Tr0ub4dor&3, and hurry', 'The pass: [secret], and hurry'],
    ['the pass for the mail server is Blau77wagen', 'the pass for the mail server is [secret]'],
    ['WPA key is Katze12345678', 'WPA key is [secret]'],
    ['the Wi-Fi key: Katze12345678', 'the Wi-Fi key: [secret]'],
    ['the secret, 8f7e6d5c4b3a, goes into the header', 'the secret, [secret], goes into the header'],
    ['password, Sommer2026x', 'password, [secret]'],
    ['creds: admin / Sommer2026x', 'creds: admin / [secret]'],
  ])('%s: is hidden', (text, shown) => {
    expect(redactSecrets(text)).toBe(shown);
    expect(redactSecrets(shown)).toBe(shown);
  });

  it.each([
    ['one more pass over step12ab34'],
    ['the tests pass in run 2026x'],
    ['the compass: Abc12345!'],
    ['the sort key is user2Name45'],
    ['jwt.encode({"some": "payload"}, "secret", algorithm="HS256")'],
    ['secret, k8s and configmaps'],
    ['token, user_id_12_ab'],
    ['admin / Login2'],
    ['app/admin / page2024'],
    ['password, username and e2e tests'],
  ])('%s: is kept', (text) => {
    expect(redactSecrets(text)).toBe(text);
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

describe('secrets in disguise', () => {
  const key = `${'sk'}-proj-gZoMqAU0VYaaDONGL7EVhPTIy8IM1k3V8g8Yb4cx566CqY2yffoFIQKBnByHGiZvhDYMY6cT3`;
  const [one, two, three] = [key.slice(0, 30), key.slice(30, 60), key.slice(60)];
  it.each([
    ['a key on two lines', `use ${one}${two}\n${three} now`, 'use [secret] now'],
    ['a key that an editor wrapped', `use ${one}\n    ${two}\n    ${three} now`, 'use [secret] now'],
    ['a key of a shell', `KEY=${one}${two}\\\n${three}`, 'KEY=[secret]'],
    ['a key in JSON', JSON.stringify(`x ${one}\n${two}${three}`), '"x [secret]"'],
    ['passwd', 'log in with passwd hunter2', 'log in with passwd [secret]'],
    ['lautet', 'Das Passwort lautet Blumenwiese', 'Das Passwort lautet [secret]'],
    ['an invisible letter', 'pass\u200bword: hunter2', 'password: [secret]'],
    ['a letter of another script', 'p\u0430ssw\u043erd: hunter2', 'password: [secret]'],
    [
      'letters of full width',
      '\uff50\uff41\uff53\uff53\uff57\uff4f\uff52\uff44\uff1ahunter2',
      'password\uff1a[secret]',
    ],
    ['a card', 'pay with 4012 8888 8888 1881 today', 'pay with [secret] today'],
    ['a card without gaps', '"378282246310005"', '"[secret]"'],
    ['an account', 'to DE89 3704 0044 0532 0130 00, please', 'to [secret], please'],
    ['an account without gaps', 'GB82WEST12345698765432', '[secret]'],
  ])('%s is hidden', (_, text, shown) => {
    expect(redactSecrets(text)).toBe(shown);
    expect(redactSecrets(shown)).toBe(shown);
  });

  it.each([
    ['a sentence behind a key', `${key}\nPlease deploy it`, '[secret]\nPlease deploy it'],
    ['code behind a key', `${key}\nconst x1y = 2`, '[secret]\nconst x1y = 2'],
    ['a number with another check digit', '4012 8888 8888 1882', undefined],
    ['a time in milliseconds', 'at 1700000000000, 1699999999999', undefined],
    ['an account with another check digit', 'DE88370400440532013000', undefined],
    ['a family', '\ud83d\udc68\u200d\ud83d\udc69\u200d\ud83d\udc67', undefined],
    ['two languages', 'Привет, password нет', undefined],
    ['a command', 'run passwd root', undefined],
  ])('%s is kept', (_, text, shown) => {
    expect(redactSecrets(text)).toBe(shown ?? text);
  });
});
