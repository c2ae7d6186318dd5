import { expect, it } from 'vitest';
import { skillHash } from '../../../../src/core/text/index.ts';

it.each([
  ['', 'e3b0c44298fc1c14'],
  ['abc', 'ba7816bf8f01cfea'], // fact 3 of sleep
  ['hello', '2cf24dba5fb0a30e'],
  ['# Skill\n', '74daeff849609b74'],
])('%j is named %s', (text, hash) => {
  expect(skillHash(text)).toBe(hash);
});

it('hashes the UTF-8 of the text', () => {
  expect(skillHash('é🙂')).toBe('7382f537af6a5305');
});
