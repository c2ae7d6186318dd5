import { describe, expect, it } from 'vitest';
import { lookAlikes, plantedSecrets } from '../support/corpora/secret-corpus.ts';

const kindsOf = (lines: readonly { readonly kind: string }[]) => new Set(lines.map(({ kind }) => kind)).size;

/** What a redactor is judged by, fixed before there was one. */
describe('the corpus of planted secrets', () => {
  it('is large enough to judge by', () => {
    expect([plantedSecrets().length, lookAlikes().length]).toEqual([400, 475]);
    expect(kindsOf(plantedSecrets())).toBeGreaterThanOrEqual(20);
    expect(kindsOf(lookAlikes())).toBeGreaterThanOrEqual(20);
  });

  it('has each secret in its own text and nowhere else', () => {
    const secrets = plantedSecrets();
    const texts = [...secrets, ...lookAlikes()].map(({ text }) => text);
    expect(secrets.filter(({ text, secret }) => !text.includes(secret))).toEqual([]);
    expect(secrets.filter(({ secret }) => texts.filter((text) => text.includes(secret)).length !== 1)).toEqual([]);
  });
});
