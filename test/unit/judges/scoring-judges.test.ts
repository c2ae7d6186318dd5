import fc from 'fast-check';
import { SimpleQAEnv } from 'skillopt/envs';
import { rubricJudge, type TaskJudgeInput } from 'skillopt/judges';
import { scripted } from 'skillopt/testing';
import { describe, expect, test } from 'vitest';
import { searchPattern } from '../../../src/core/judge/index.ts';
import { jsonInReply, whyUnfit } from '../../../src/core/judge/json-schema.ts';
import { fromJsPattern } from '../../../src/core/judge/regex/js-pattern.ts';

const signal = new AbortController().signal;

/** What a task with this judge makes of a reply. */
async function score(judge: TaskJudgeInput, reply: string, verdict = '{"reason": "so", "score": 1}') {
  const item = { id: 'a', question: 'q', judge };
  const env = new SimpleQAEnv({ trainItems: [item], valItems: [], testItems: [], judges: [rubricJudge()] as never });
  const asked = scripted('judge', () => verdict);
  const target = scripted('target', () => reply);
  const result = await env.rolloutOne({
    item: env.getItems('train')[0]!,
    skill: '',
    target,
    judge: asked,
    extras: {},
    signal,
  });
  return { hard: result.hard, soft: result.soft, failReason: result.failReason, asked: asked.requests };
}

describe('contains', () => {
  test.each([
    [{ reference: 'Paris' }, 'It is paris.', 1, 1],
    [{ reference: ['Rome', 'Paris'] }, 'It is Paris.', 1, 1],
    [{ reference: ['Rome', 'Paris'], all: true }, 'It is Paris.', 0, 0.5],
    [{ reference: 'Paris', ignoreCase: false }, 'It is paris.', 0, 0],
  ])('%j in %j', async (settings, reply, hard, soft) => {
    expect(await score({ kind: 'contains', ...settings }, reply)).toMatchObject({ hard, soft });
  });
});

describe('number', () => {
  test.each([
    [{ reference: 42 }, 'First 7, then **42**.', 1],
    [{ reference: 42, which: 'first' as const }, 'First 7, then 42.', 0],
    [{ reference: 1250 }, 'That makes $1,250.00', 1],
    [{ reference: -0.5, tolerance: 0.1 }, 'about −0.6', 1],
    [{ reference: 100, relativeTolerance: 0.01 }, '101', 1],
    [{ reference: 100, relativeTolerance: 0.01 }, '101.1', 0],
    [{ reference: [1, 2] }, '2', 1],
    [{ reference: 3 }, 'three', 0],
    [{ reference: 2000 }, '2e3', 1],
    [{ reference: 0.3, tolerance: 0 }, String(0.1 + 0.2), 1],
  ])('%j in %j', async (settings, reply, hard) => {
    expect(await score({ kind: 'number', ...settings }, reply)).toMatchObject({ hard });
  });
});

describe('regex', () => {
  test('finds a pattern and does not show it to those who analyse', async () => {
    const judge = { kind: 'regex', pattern: ['^\\d+$', '(?i)seven'] } as const;
    expect(await score(judge, 'It is SEVEN')).toMatchObject({ hard: 1 });
    const { failReason } = await score(judge, 'six');
    expect(failReason).toMatch(/^wrong form/);
    expect(failReason).not.toMatch(/seven|\\d/);
  });
});

describe('json-schema', () => {
  const schema = { type: 'object', required: ['a'], properties: { a: { type: 'number' } } };

  test('looks at the JSON of a reply, fenced or not', async () => {
    expect(await score({ kind: 'json-schema', schema }, 'So:\n```json\n{"a": 1}\n```')).toMatchObject({ hard: 1 });
    const wrong = await score({ kind: 'json-schema', schema }, '{"a": "x"}');
    expect(wrong).toMatchObject({ hard: 0, failReason: expect.stringMatching(/^does not fit the schema: a: /) });
    expect(await score({ kind: 'json-schema', schema }, 'none')).toMatchObject({
      failReason: expect.stringMatching(/^no JSON/),
    });
    expect(jsonInReply('[1, 2]')).toEqual({ value: [1, 2] });
  });

  test.each([
    [{ required: ['a'] }, { a: 1 }, true],
    [{ required: ['a'] }, {}, false],
    [{ required: ['a'] }, 5, true],
    [{ type: 'object', required: ['a'] }, {}, false],
    [{ properties: { a: { minimum: 3 } } }, { a: 2 }, false],
    [{ properties: { a: { minimum: 3 } } }, { a: 'x' }, true],
    [{ type: 'object', properties: { a: { type: 'number', default: 1 } }, required: ['a'] }, {}, false],
    [{ anyOf: [{ type: 'string' }, { type: 'object' }], required: ['a'] }, {}, false],
    [{ type: ['object', 'null'], required: ['a'] }, null, true],
  ])('%j of %j is %j, as the specification says', (each, value, isFit) => {
    expect(whyUnfit(value, each) === undefined).toBe(isFit);
  });
});

describe('checks', () => {
  const judge: TaskJudgeInput = {
    kind: 'checks',
    checks: [
      { type: 'contains', value: 'secret word', weight: 3 },
      {
        type: 'set',
        checks: [
          { type: 'word-count', value: { max: 3 } },
          { type: 'rubric', value: 'Is kind.' },
        ],
      },
    ],
  };

  test('are weighed, a model is asked where one must be, and what is looked for is not shown', async () => {
    const right = await score(judge, 'a secret word');
    expect(right).toMatchObject({ hard: 1, soft: 1 });
    expect(right.asked[0]!.messages[0]!.content).toContain('Is kind.');
    const wrong = await score(judge, 'a word');
    expect(wrong).toMatchObject({ hard: 0, soft: 0.25, failReason: 'failed 1 of 2 checks: contains' });
    expect(await score({ ...judge, threshold: 0.25 }, 'a word')).toMatchObject({ hard: 1, soft: 0.25 });
  });

  test('without a verdict of the model give no score', async () => {
    expect(await score(judge, 'a secret word', 'what?')).toMatchObject({
      failReason: expect.stringContaining('could not be decided'),
    });
  });

  test('of a model need somebody who asks it', () => {
    const item = { id: 'a', question: 'q', judge };
    expect(() => new SimpleQAEnv({ trainItems: [item], valItems: [], testItems: [] })).toThrow(
      'task a has a judge of the kind rubric, and there is none',
    );
  });
});

describe('criteria', () => {
  const judge: TaskJudgeInput = { kind: 'rubric', criteria: ['Names the roof', 'Is polite', 'Is short'] };

  test('are asked about one by one, and all must be met', async () => {
    const right = await score(judge, 'x', '{"reason": "all", "met": [true, true, true]}');
    expect(right).toMatchObject({ hard: 1, soft: 1 });
    expect(right.asked[0]!.messages[0]!.content).toContain(
      '## Statements\n1. Names the roof\n2. Is polite\n3. Is short',
    );
    const wrong = await score(judge, 'x', '{"reason": "rude", "met": [true, false, true]}');
    expect(wrong).toMatchObject({ hard: 0, soft: expect.closeTo(2 / 3), failReason: expect.stringContaining('rude') });
  });

  test('with a verdict on fewer statements are not judged', async () => {
    expect(await score(judge, 'x', '{"met": [true]}')).toMatchObject({
      failReason: expect.stringContaining('no judgement'),
    });
  });
});

describe('patterns of JavaScript', () => {
  const piece = fc.constantFrom(
    'a',
    'b+',
    '.',
    '\\d',
    '\\w*',
    '\\s',
    '\\S',
    '[a-c]',
    '[^x\\s]',
    '[\\s\\S]',
    '(?:ab|c)',
    '^',
    '$',
    '\\b',
    'a{2}',
    '{',
    '}',
    '{,2}',
    '\\.',
    '\\-',
    '[.$]',
    '(?<n>a)?',
    '\\u0061',
    '[[]',
    '[\\d-]',
    '/',
  );
  const text = fc
    .array(
      fc.constantFrom(
        'a',
        'b',
        'c',
        'x',
        ' ',
        '\n',
        '\r',
        '\u2028',
        '\u00a0',
        '\ufeff',
        '7',
        '٣',
        'é',
        '.',
        '$',
        '{',
        '}',
        ',',
        '2',
        '[',
        '-',
        '_',
        '/',
      ),
      { minLength: 1, maxLength: 8 },
    )
    .map((parts) => parts.join(''));

  test('match what JavaScript matches, or are not carried', () => {
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 5 }), text, (pieces, answer) => {
        const pattern = pieces.join('');
        let translated: string;
        try {
          translated = fromJsPattern(pattern);
        } catch {
          return;
        }
        expect([pattern, searchPattern(translated, answer)]).toEqual([pattern, new RegExp(pattern).test(answer)]);
      }),
      { numRuns: 2_000 },
    );
  });

  test.each(['(?=a)b', '(a)\\1', '(?i)a', '\\p{L}', '(?<!a)b'])('%s is not carried', (pattern) => {
    expect(() => fromJsPattern(pattern)).toThrow();
  });
});
