import { applyEditRecords, EditRecord, readLearned, writeLearned } from '../../src/core/document/index.ts';
import { redactSecrets, redactValue } from '../../src/core/guard/index.ts';
import { checkRuleJudge, keywordScore, type RuleCheck, scoreByRule, scoreExact } from '../../src/core/judge/index.ts';
import { extractJson, inMarkdown, printable, skillHash } from '../../src/core/text/index.ts';
import { type Fact, holdFacts } from '../support/sleep/facts.ts';

const passes = (op: string, arg: RuleCheck['arg'], text: string, toolsCalled: readonly string[] = []) =>
  scoreByRule({ text, toolsCalled }, [{ op, arg } as RuleCheck])?.hard === 1;

const checks = (
  op: string,
  rows: readonly (readonly [arg: string | number, text: string, passes: boolean])[],
): Fact[] =>
  rows.map(([arg, text, expected]) => [
    `${op} ${JSON.stringify(arg)} on ${JSON.stringify(text)}`,
    () => passes(op, arg, text),
    expected,
  ]);

const [START, END] = ['<!-- SKILLOPT_SLEEP_START -->', '<!-- SKILLOPT_SLEEP_END -->'];
const RISKS = 'Key Risks';

holdFacts('checks of an answer', [
  ...checks('section_present', [
    [RISKS, '##Key Risks', true],
    [RISKS, '### 1. Key Risks', true],
    [RISKS, '### 1. Key Risks (x)', false],
    [RISKS, '####### Key Risks', true],
    [RISKS, '    # Key Risks', false],
    [RISKS, '\t# Key Risks', true],
    [RISKS, 'the Key Risks: x', false],
    [RISKS, '  key risks : foo', true],
    [RISKS, '**a Key Risks b**', true],
    [RISKS, '**Key Risks**:', true],
    [RISKS, 'Key Risks', false],
  ]),
  ...checks('section_contains', [
    [RISKS, '## a KEY RISKS b', true],
    [RISKS, '#\tKey Risks', true],
    [RISKS, '##Key Risks', false],
    [RISKS, '####### Key Risks', false],
    [RISKS, '    # Key Risks', false],
    [RISKS, '**Key Risks**', false],
    ['STRASSE', '# Straße', true],
  ]),
  ...checks('regex', [
    ['^b', 'a\nb', false],
    ['ABC', 'abc', false],
    ['(?i)ABC', 'abc', true],
    ['b$', 'ab\n', true],
    ['^\\w$', 'é', true],
    ['\\d', '٣', true],
    ['a{1,3}', 'aa', true],
    ['foo(', 'foo(', false],
    ['', '', true],
  ]),
  ...checks('max_chars', [
    [1, '😀', true],
    ['3', 'abc', true],
    [' 2 ', 'abc', false],
  ]),
  ...checks('min_chars', [[2, '😀', false]]),
  ...checks('contains', [
    ['', 'x', true],
    ['ABC', 'xabcx', true],
    [0, '10', true],
  ]),
  ...checks('not_contains', [['ABC', 'xabcx', false]]),
  ...checks('tool_called', [
    ['search', 'tool_call :SEARCH now', true],
    ['search', 'tool_call: searching', false],
    ['search', 'searching', false],
  ]),
  ['tool_called in the list of tools', () => passes('tool_called', 'Search', '', ['search']), true],
  ['no_refusal of nothing', () => passes('no_refusal', null, ''), false],
  ['no_refusal behind a number', () => passes('no_refusal', null, "1) I can't"), false],
  ['no_refusal behind marks', () => passes('no_refusal', null, "> - **I'm unable"), false],
  ['no_refusal with a curly apostrophe', () => passes('no_refusal', null, 'I can’t'), true],
  ['no_refusal of a long answer', () => passes('no_refusal', null, `I cannot ${'x'.repeat(600)}`), true],
  ['no_refusal in the middle', () => passes('no_refusal', null, 'Unfortunately I cannot'), true],
  [
    'two checks, one fails',
    () =>
      scoreByRule('abc', [
        { op: 'contains', arg: 'a' },
        { op: 'max_chars', arg: 1 },
      ])?.soft,
    0.5,
  ],
  ['no checks', () => scoreByRule('x', []), { hard: 0, soft: 0, failed: [], rationale: 'no checks' }],
  ['an unknown op', () => attempt(() => passes('nope', 'x', 'y')), true, 'unknown operator'],
  ['a pattern that looks back', () => attempt(() => passes('regex', '(a)\\1', 'aa')), true, 'regex'],
]);

function attempt(what: () => unknown): unknown {
  try {
    return what();
  } catch (error) {
    return (error as Error).message;
  }
}

const problems = (judge: unknown) => {
  const { errors, warnings } = checkRuleJudge(judge);
  return [errors.length, warnings.length];
};

const judged = (...list: readonly unknown[]): unknown => ({ checks: list });

holdFacts('checks as they are written', [
  [
    'none',
    () => [problems(null), problems({})],
    [
      [0, 0],
      [0, 0],
    ],
  ],
  ['a list', () => problems([]), [1, 0]],
  ['checks that are no list', () => problems({ checks: {} }), [1, 0]],
  ['a check that is no object', () => problems(judged(1)), [1, 0]],
  ['an op that is no text', () => problems(judged({ op: 1 })), [1, 0]],
  ['blank text', () => problems(judged({ op: 'contains', arg: ' ' })), [1, 0]],
  ['a number as text', () => problems(judged({ op: 'contains', arg: 0 })), [0, 0]],
  ['a broken pattern', () => problems(judged({ op: 'regex', arg: 'foo(' })), [1, 0]],
  ['a minimum of 0, and only the form', () => problems(judged({ op: 'min_chars', arg: 0 })), [0, 2]],
  ['only the form', () => problems(judged({ op: 'section_present', arg: 'x' })), [0, 1]],
  ...([true, -1, '-3', 1.9, '1e3', '5_0'] as const).map(
    (arg): Fact => [`the bound ${JSON.stringify(arg)}`, () => problems(judged({ op: 'max_chars', arg }))[0], 1],
  ),
  ...([50, ' 50 ', '٣', '+5'] as const).map(
    (arg): Fact => [`the bound ${JSON.stringify(arg)}`, () => problems(judged({ op: 'max_chars', arg }))[0], 0],
  ),
  ['an unknown op', () => problems(judged({ op: 'nope', arg: 'x' })), [0, 1], 'unknown operator'],
]);

holdFacts('answers, replies and hashes', [
  ['a reference inside a word', () => scoreExact('cat', 'concatenate').hard, 1],
  ['an underscore is a letter', () => scoreExact('a_b', 'a b').hard, 0],
  ['an empty reference', () => scoreExact('', 'x').hard, 0],
  ['case, spaces and punctuation', () => scoreExact('Add login form', 'ADD   login-form!').hard, 1],
  ['a share of the words', () => keywordScore('Remove dead code', 'approximately Remove dead co (…)'), 2 / 3],
  ['short words', () => keywordScore('a b c', 'a b c'), 0],
  ['a word twice', () => keywordScore('foo foo bar', 'foo'), 0.5],
  ['250 words, the last 50 given', () => keywordScore(numbered(0, 250), numbered(200, 250)), 0.2, 'long references'],
  ['two objects in a reply', () => extractJson('{"a":1} {"b":2}'), undefined],
  ['brackets before a list', () => extractJson('As noted in [1], here: [{"a":1}]'), undefined, 'JSON in a reply'],
  ['the hash of nothing', () => skillHash(''), 'e3b0c44298fc1c14'],
  ['the hash of a text', () => skillHash('abc'), 'ba7816bf8f01cfea'],
]);

const numbered = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => `word${from + at}x`).join(' ');

const edited = (block: string, ...edits: readonly Partial<EditRecord>[]) => {
  const {
    block: after,
    applied,
    unmatched,
  } = applyEditRecords(
    block,
    edits.map((edit) => EditRecord.parse(edit)),
  );
  return [after, applied.length, unmatched.length];
};

holdFacts('edits and the learned block', [
  ['adding what is there', () => edited('- Use foo', { content: 'use   FOO' }), ['- Use foo', 0, 1]],
  ['no op is add', () => edited('', { op: '', content: 'a' }), ['- a', 1, 0]],
  ['the case of an op', () => edited('', { op: 'ADD', content: 'a' }), ['- a', 1, 0]],
  ['an unknown op', () => edited('', { op: 'zap', content: 'a' }), ['', 0, 1]],
  ['delete without an anchor', () => edited('- a\n- b', { op: 'delete' }), ['- a\n- b', 0, 1]],
  ['delete by content', () => edited('- a\n- b', { op: 'delete', content: 'a' }), ['- b', 1, 0]],
  [
    'the same text again',
    () => edited('- Use foo', { op: 'replace', anchor: 'foo', content: 'Use foo' }),
    ['- Use foo', 0, 1],
  ],
  [
    'replace by a part',
    () => edited('- Use foo\n- keep bar', { op: 'replace', anchor: 'o', content: 'Z' }),
    ['- Z\n- keep bar', 1, 0],
  ],
  [
    'add, replace and delete',
    () => edited('- b', { content: 'X' }, { op: 'replace', anchor: 'x', content: 'Y' }, { op: 'delete', anchor: 'y' }),
    ['- b', 3, 0],
  ],
  [
    'delete by a part of two',
    () => edited('- a b\n- a c', { op: 'delete', anchor: 'a' }),
    ['', 1, 0],
    'delete and replace by anchor',
  ],
  [
    'a rule that begins with dashes',
    () => edited('', { content: '--json always' }),
    ['- json always', 1, 0],
    'rules of several lines',
  ],
  ['the end before the start', () => readLearned(`${END} a ${START}`), ''],
  ['no end', () => readLearned(`a ${START} b`), ''],
  [
    'where the block is written',
    () => writeLearned(`${START}\n- a\n${END}\nb`, '- c'),
    `b\n\n${START}\n- c\n${END}\n`,
    'where the block stands',
  ],
]);

const MARK = '[secret]';
const hidden = (text: string) => redactSecrets(text);

holdFacts('secrets and displayed text', [
  ...['token budget exceeded', 'PWD=/home', 'max_tokens=512', '{"token_budget":"p"}'].map(
    (text): Fact => [`${text} is kept`, () => hidden(text), text],
  ),
  ['a spoken token', () => hidden('token abc123def, retrying'), `token ${MARK}, retrying`],
  ['PWD behind a semicolon', () => hidden(';PWD=x'), `;PWD=${MARK}`],
  ['Pwd in JSON', () => hidden('{"Pwd":"p"}'), `{"Pwd":"${MARK}"}`],
  ['a key of AWS', () => hidden('AKIAIOSFODNN7ABCDEFG'), MARK],
  ['twice', () => hidden(hidden('pwd=hunter2')), hidden('pwd=hunter2')],
  ['names of values', () => redactValue({ apiKey: 5, PWD: '/h' }), { apiKey: MARK, PWD: '/h' }],
  ...['AKIAIOSFODNN7EXAMPLE', 'token=top-secret&x=1', 'Bearer abc.def', 'sk-abcdefghij', 'GITHUB_TOKEN=short'].map(
    (text): Fact => [`${text} is masked`, () => hidden(text).includes(MARK), true, 'short and example secrets'],
  ),
  ['a key in a sentence', () => hidden('api_key is abcdefg1'), 'api_key is abcdefg1', '`api_key is abcdefg1`'],
  ['braces', () => hidden('Password={a;b}'), `Password=${MARK}`, '`Password={a;b}`'],
  ['a key behind a word', () => hidden('task-sk-abcdefghij1234'), `ta${MARK}`, '`task-sk-abcdefghij1234`'],
  [
    'a key without its end',
    () => hidden('-----BEGIN RSA PRIVATE KEY-----\nabc'),
    '-----BEGIN RSA PRIVATE KEY-----\nabc',
    'private key without its end',
  ],
  ['colours and titles', () => printable('\x1b[31mred\x1b[0m \x1b]0;t\x07x'), 'red x'],
  ['zero-width letters', () => printable('a\u200bb'), 'ab', 'zero-width characters'],
  ['links', () => inMarkdown('[a](http://x)').includes('\\['), true, 'links and `<b>` in Markdown reports'],
]);
