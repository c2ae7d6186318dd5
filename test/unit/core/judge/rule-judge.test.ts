import { extractJson } from 'skillopt';
import { checkRuleJudge, keywordScore, type RuleCheck, scoreByRule, scoreExact } from 'skillopt/judges';
import { describe, expect, it, test } from 'vitest';

const passes = (op: RuleCheck['op'], arg: RuleCheck['arg'], text: string, toolsCalled: readonly string[] = []) =>
  scoreByRule({ text, toolsCalled }, [{ op, arg }])?.hard === 1;

describe('exact', () => {
  test('fact 1: the reference may stand inside a word, punctuation is a space, an empty reference fits nothing', () => {
    const hard = (reference: string, answer: string) => scoreExact(reference, answer).hard;
    expect([hard('cat', 'concatenate'), hard('a_b', 'a b'), hard('', 'x')]).toEqual([1, 0, 0]);
    expect(hard('Add login form', 'ADD   login-form!')).toBe(1);
  });

  test('fact 2: soft is the share of different words of more than two letters', () => {
    expect(keywordScore('Remove dead code', 'approximately Remove dead co (…)')).toBeCloseTo(2 / 3);
    expect(keywordScore('a b c', 'a b c')).toBe(0);
    expect(keywordScore('foo foo bar', 'foo')).toBe(0.5);
    expect(scoreExact('a b c', 'a b c')).toEqual({ hard: 1, soft: 1 });
  });
});

test('fact 4: of two JSON objects in a reply, neither is taken', () => {
  expect(extractJson('{"score": 1} {"score": 0}')).toBeUndefined();
});

describe('operators', () => {
  test.each([
    ['##Key Risks', true],
    ['### 1. Key Risks', true],
    ['### 1. Key Risks (x)', false],
    ['####### key risks  ', true],
    ['   # Key Risks', true],
    ['    # Key Risks', false],
    ['the Key Risks: x', false],
    ['Intro\nKey Risks: x', true],
    ['  key risks : foo', true],
    ['    Key Risks: x', false],
    ['**Key Risks**:', true],
    ['**1. Key Risks:**', true],
    ['Key Risks', false],
  ])('fact 7: section_present on %j is %j', (text, expected) => {
    expect(passes('section_present', 'Key Risks', text)).toBe(expected);
  });

  test.each([
    ['Key Risks', '##Key Risks', false],
    ['Key Risks', '## The key risks we see', true],
    ['Key Risks', '####### Key Risks', false],
    ['Key Risks', '    # Key Risks', false],
    ['STRASSE', '# Straße', true],
    ['Key Risks', '**Key Risks**', false],
  ])('fact 8: section_contains %j on %j is %j', (name, text, expected) => {
    expect(passes('section_contains', name, text)).toBe(expected);
  });

  test('fact 9: a regex is searched as Python does, without flags; a broken one fails and says why', () => {
    expect([passes('regex', '^b', 'a\nb'), passes('regex', 'ABC', 'abc'), passes('regex', '', '')]).toEqual([
      false,
      false,
      true,
    ]);
    expect(scoreByRule('foo(', [{ op: 'regex', arg: 'foo(' }])).toMatchObject({
      hard: 0,
      rationale: 'regex=foo( (the pattern cannot be read: the group is not closed: ()',
    });
  });

  test('fact 10: lengths are counted in code points, and a bound may be text', () => {
    expect([passes('max_chars', 1, '😀'), passes('min_chars', 2, '😀'), passes('max_chars', '3', 'abc')]).toEqual([
      true,
      false,
      true,
    ]);
  });

  test('fact 11: contains "" always holds, and no checks are no success', () => {
    expect(passes('contains', '', 'x')).toBe(true);
    expect(scoreByRule('x', [])).toEqual({ hard: 0, soft: 0, failed: [], rationale: 'no checks' });
  });

  test('fact 11, differs: an unknown operator is an error', () => {
    const check = { op: 'contain', arg: 'x' } as unknown as RuleCheck;
    expect(() => scoreByRule('x', [check])).toThrow('a check has the unknown op "contain" — did you mean contains?');
  });

  test.each([
    ['', false],
    [" 1) I can't do it", false],
    ["> - **I'm unable", false],
    ['I can’t', true],
    [`I cannot.${'x'.repeat(600)}`, true],
    ['Unfortunately I cannot', true],
    ['Here you are.', true],
  ])('fact 12: no_refusal on %j is %j', (text, expected) => {
    expect(passes('no_refusal', null, text)).toBe(expected);
  });

  test('fact 13: a tool is called by a marker in the text, or when it is in the list', () => {
    expect(passes('tool_called', 'search', 'tool_call :SEARCH now')).toBe(true);
    expect(passes('tool_called', 'search', 'tool_call: searching')).toBe(false);
    expect(passes('tool_called', 'search', 'searching')).toBe(false);
    expect(passes('tool_called', 'Search', '', ['search'])).toBe(true);
  });

  it('gives partial credit for each check that holds', () => {
    const checks = [
      { op: 'contains', arg: 'Salut' },
      { op: 'max_chars', arg: 5 },
    ] as const;
    expect(scoreByRule('salut, toi', checks)).toMatchObject({ hard: 0, soft: 0.5, rationale: 'max_chars=5' });
  });
});

describe('checking what somebody wrote', () => {
  const errorsOf = (...checks: unknown[]) => checkRuleJudge({ checks }).errors;

  test('fact 14: structure, bounds and patterns are errors; what is seldom meant is a warning', () => {
    expect([checkRuleJudge(null), checkRuleJudge({})]).toEqual([
      { errors: [], warnings: [] },
      { errors: [], warnings: [] },
    ]);
    expect(checkRuleJudge([]).errors).toEqual(['a judge must be an object with checks']);
    expect(checkRuleJudge({ checks: {} }).errors).toEqual(['checks must be a list']);
    expect(errorsOf('x', { op: 1 }, { op: 'contains', arg: ' ' }, { op: 'max_chars', arg: true })).toHaveLength(4);
    expect(errorsOf({ op: 'max_chars', arg: '1e3' }, { op: 'max_chars', arg: -1 })).toHaveLength(2);
    expect(errorsOf({ op: 'contains', arg: 0 }, { op: 'no_refusal' })).toEqual([]);
    expect(checkRuleJudge({ checks: [{ op: 'min_chars', arg: 0 }] }).warnings).toHaveLength(2);
    expect(checkRuleJudge({ checks: [{ op: 'section_present', arg: 'A' }] }).warnings).toHaveLength(1);
  });

  test('fact 14, differs: an unknown operator is an error that names those that there are', () => {
    expect(errorsOf({ op: 'regexp', arg: 'x' })[0]).toMatch(/^check 1 has the unknown op "regexp" .*there is section/);
  });

  test('fact 15: bounds are whole numbers, also as text and in other digits', () => {
    for (const [arg, bound] of [
      [50, 50],
      [' 50 ', 50],
      ['٣', 3],
      ['+12', 12],
    ] as const) {
      const passes = (length: number) => scoreByRule('x'.repeat(length), [{ op: 'max_chars', arg }])!.hard;
      expect([passes(bound), passes(bound + 1)]).toEqual([1, 0]);
    }
    for (const arg of [1.9, true, '5_0', '1e3', '', null, Number.NaN, '-3']) {
      expect(errorsOf({ op: 'max_chars', arg })).toHaveLength(1);
    }
  });

  test('7: a criterion with a comma in it is one criterion', () => {
    const score = scoreByRule('b', [{ op: 'regex', arg: '^a{1,3}$' }]);
    expect(score).toMatchObject({ soft: 0, rationale: 'regex=^a{1,3}$' });
    expect(score!.failed).toHaveLength(1);
  });

  test('30: a pattern that hangs other engines is decided in one pass, and what cannot be is refused by name', () => {
    expect(passes('regex', '^(a+)+$', `${'a'.repeat(50_000)}!`)).toBe(false);
    expect(passes('regex', '(x+x+)+y', 'x'.repeat(50_000))).toBe(false);
    expect(errorsOf({ op: 'regex', arg: '(a)\\1' })[0]).toContain('"\\\\1" is a backreference, which is not supported');
    expect(errorsOf({ op: 'regex', arg: '^(?!.*foo)' })[0]).toContain('"(?!" is a negative lookahead');
    expect(errorsOf({ op: 'regex', arg: '((a{50}){50}){50}' })[0]).toContain('use smaller numbers in {…}');
    expect(() => scoreByRule('aa', [{ op: 'regex', arg: '(a)\\1' }])).toThrow('is a backreference');
  });

  test('30: what would take too many steps is not decided, rather than failed', () => {
    expect(scoreByRule('a'.repeat(100_000), [{ op: 'regex', arg: 'a{1500}a{1500}b' }])).toBeUndefined();
  });
});
