import { join } from 'node:path';
import { loadTasks } from 'skillopt/envs';
import { describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { importFiles, importPath, promptfooExpectations } from '../../../support/imports/import-corpus.ts';
import { meets } from '../../../support/imports/promptfoo-fidelity.ts';
import { tempFolder } from '../../../support/temp-folder.ts';

const files = importFiles('promptfoo');

describe.each(files)('the promptfoo config %s', (file) => {
  const expectations = promptfooExpectations().filter((expectation) => expectation.file === file);

  test('is judged as promptfoo judges it, or it is said what is not carried', async () => {
    const wrong: unknown[] = [];
    for (const expectation of expectations) {
      const outcome = await meets(expectation);
      if (outcome !== 'met' && outcome !== 'named') wrong.push([outcome, expectation]);
    }
    expect(expectations.length).toBeGreaterThan(0);
    expect(wrong).toEqual([]);
  });
});

test('of all expectations so many are met, and the others named', async () => {
  const outcomes = await Promise.all(promptfooExpectations().map(meets));
  const count = (kind: string) => outcomes.filter((outcome) => outcome === kind).length;
  expect({ all: outcomes.length, met: count('met'), named: count('named') }).toMatchInlineSnapshot(`
    {
      "all": 506,
      "met": 382,
      "named": 124,
    }
  `);
});

test('a config is named as the tasks, and is scored', async () => {
  const { rows, leftOut } = await loadTasks(importPath('promptfoo', 'odd.yaml'));
  expect(rows.filter(({ value }) => value.question.endsWith('A?')).map(({ value }) => value)).toEqual([
    { id: expect.stringMatching(/^first-way-a-/), question: 'First way: A?', answers: ['A'], judge: expect.anything() },
    {
      id: expect.stringMatching(/^second-way-a-/),
      question: 'Second way: A?',
      answers: ['A'],
      judge: expect.anything(),
    },
  ]);
  expect(leftOut).toContainEqual({
    kind: 'check',
    where: 'tests[0]',
    test: 'a type that nobody knows',
    check: '0',
    what: 'sounds-nice',
    why: 'promptfoo has no such type',
  });
});

test.each([
  ['JSON in a YAML file', (config: object) => JSON.stringify(config)],
  [
    'keys in quotes',
    ({ tests, ...config }: Record<string, unknown>) => `${stringify(config)}'tests': ${JSON.stringify(tests)}\n`,
  ],
])('is known by its keys: %s', async (_, write) => {
  const tests = [{ vars: { q: 'A?' }, assert: [{ type: 'equals', value: 'A' }] }];
  using folder = tempFolder({ 'promptfooconfig.yaml': write({ prompts: ['{{q}}'], tests }) });
  const { rows } = await loadTasks(join(folder.path, 'promptfooconfig.yaml'));
  expect(rows.map(({ value }) => value.question)).toEqual(['A?']);
});
