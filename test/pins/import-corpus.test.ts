import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { evalsExpectations, importFiles, importPath, promptfooExpectations } from '../support/imports/import-corpus.ts';

const rows = promptfooExpectations();
const addressOf = (row: (typeof rows)[number]) =>
  'assertion' in row ? [row.file, row.test, JSON.stringify(row.vars), row.assertion].join(' · ') : '';
const addresses = new Set(rows.map(addressOf).filter((address) => address !== '' && !address.endsWith(' · test')));

/** What has one verdict only: nothing can fail it. */
const CANNOT_FAIL = ['cost is only written down', 'a check without weight cannot fail', 'nothing can fail'];

/** What importers are judged by, fixed before there was one. */
describe('the corpus of files to import', () => {
  it('is large enough to judge by', () => {
    expect([importFiles('promptfoo').length, importFiles('evals').length]).toEqual([18, 30]);
    expect([addresses.size, rows.length, evalsExpectations().length]).toEqual([200, 506, 30]);
  });

  it('expects something of each file, and of no other', () => {
    expect([...new Set(rows.map(({ file }) => file))].sort()).toEqual(importFiles('promptfoo'));
    expect(
      evalsExpectations()
        .map(({ file }) => file)
        .sort(),
    ).toEqual(importFiles('evals'));
  });

  it('has files that can be read', () => {
    for (const name of importFiles('promptfoo')) {
      expect(parse(readFileSync(importPath('promptfoo', name), 'utf8'))).toHaveProperty('prompts');
    }
    for (const name of importFiles('evals')) JSON.parse(readFileSync(importPath('evals', name), 'utf8'));
  });

  it('has an answer that passes and one that fails for each check without a model', () => {
    const verdicts = new Map<string, Set<string>>();
    for (const row of rows) {
      if (!('expected' in row) || CANNOT_FAIL.includes(row.test)) continue;
      verdicts.set(addressOf(row), (verdicts.get(addressOf(row)) ?? new Set()).add(row.expected));
    }
    expect([...verdicts].filter(([, seen]) => seen.size < 2).map(([address]) => address)).toEqual([]);
    expect(verdicts.size).toBeGreaterThan(100);
  });
});
