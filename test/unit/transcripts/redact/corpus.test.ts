import { expect, it } from 'vitest';
import { redactor } from '../../../../src/transcripts/index.ts';
import { lookAlikes, plantedSecrets } from '../../../support/corpora/secret-corpus.ts';

const redact = redactor({ home: '/home/somebody-here', env: { USER: 'somebody-here' } });

/** How many letters in a row may be left of a secret at most: fewer than help anybody. */
const LONGEST_REST = 11;

function isLeft(secret: string, shown: string): boolean {
  const escaped = JSON.stringify(secret).slice(1, -1);
  if (shown.includes(secret) || shown.includes(escaped)) return true;
  const starts = Array.from({ length: Math.max(0, secret.length - LONGEST_REST) }, (_, at) => at);
  return starts.some((at) => shown.includes(secret.slice(at, at + LONGEST_REST + 1)));
}

it('28: no planted secret survives, not even a part of it', () => {
  const left = plantedSecrets().filter(({ text, secret }) => isLeft(secret, redact(text)));
  expect(left).toEqual([]);
});

it('no planted secret survives among the others', () => {
  const shown = redact(
    plantedSecrets()
      .map(({ text }) => text)
      .join('\n\n'),
  );
  const left = plantedSecrets().filter(({ secret }) => shown.includes(secret) || shown.includes(secret.slice(-12)));
  expect(left.map(({ kind, secret }) => `${kind}: ${secret}`)).toEqual([]);
});

it('no planted secret survives inside JSON, once or twice', () => {
  const escaped = (text: string) => JSON.stringify({ message: text });
  for (const wrap of [escaped, (text: string) => escaped(escaped(text))]) {
    const left = plantedSecrets().filter(({ text, secret }) => isLeft(secret, redact(wrap(text))));
    expect(left.map(({ kind, text }) => `${kind}: ${text}`)).toEqual([]);
  }
});

it('leaves look-alikes alone, byte for byte', () => {
  const changed = lookAlikes().filter(({ text }) => redact(text) !== text);
  expect(changed.length, JSON.stringify(changed)).toBeLessThanOrEqual(lookAlikes().length * 0.05);
});

it('changes nothing when it is called again', () => {
  const texts = [...plantedSecrets(), ...lookAlikes()].map(({ text }) => redact(text));
  expect(texts.filter((text) => redact(text) !== text)).toEqual([]);
});
