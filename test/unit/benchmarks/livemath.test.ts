import { cpSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { scripted } from 'skillopt/models';
import { describe, expect, it } from 'vitest';
import { DataFiles } from '../../../src/benchmarks/data/data-files.ts';
import { readRows } from '../../../src/benchmarks/data/load-items.ts';
import { findBenchmark } from '../../../src/benchmarks/index.ts';
import { type LiveMathItem, livemath } from '../../../src/benchmarks/livemath/livemath.ts';
import { type ChoiceRule, labelAt, readChoice } from '../../../src/benchmarks/livemath/read-choice.ts';
import { choiceOrder } from '../../../src/benchmarks/livemath/read-row.ts';
import { ModelCallError, parseWith, type SkillEnv } from '../../../src/core/contracts/index.ts';
import { extractAnswer } from '../../../src/envs/index.ts';
import { loadEnv, loadProject } from '../../../src/project/index.ts';
import { goldenCases } from '../../support/golden-cases.ts';
import { hostileText } from '../../support/hostile-text.ts';
import { tempFolder } from '../../support/temp-folder.ts';

type Choice = { label: string; text: string };
type Scored = { text: string; choices: Choice[]; correct: string; em: number; label: string };

const read = ({ text, choices }: Pick<Scored, 'text' | 'choices'>, rule: ChoiceRule) =>
  readChoice(extractAnswer(text), choices, rule);

describe('the golden cases of LiveMathematicianBench', () => {
  const cases = goldenCases<Scored>('livemath');

  it('hold, every one, under the rule of the reference', () => {
    const seen = cases.map((one) => {
      const label = read(one, 'reference');
      return { text: one.text, em: Number(label === one.correct), label };
    });
    expect(seen).toEqual(cases.map(({ text, em, label }) => ({ text, em, label })));
    expect(cases).toHaveLength(32);
  });

  it('score otherwise under the repaired rule only where a label has something round it', () => {
    const differing = cases.filter((one) => read(one, 'repaired') !== one.label);
    expect(differing.map(({ text }) => text)).toMatchInlineSnapshot(`
      [
        "<answer>(B)</answer>",
        "<answer>**B**</answer>",
        "<answer>Answer B</answer>",
        "The answer is B",
        "<answer>\\boxed{B}</answer>",
        "<answer>$B$</answer>",
        "<answer>choice B</answer>",
      ]
    `);
    for (const one of differing) expect(read(one, 'repaired')).toBe('B');
  });

  it('shuffle choices as the reference does', () => {
    type Shuffled = { id: string; seed: number; n: number; order: string };
    for (const { id, seed, n, order } of goldenCases<Shuffled>('livemath-shuffle'))
      expect(choiceOrder(n, { id, seed }).map(labelAt).join('')).toBe(order);
  });
});

const CHOICES = [...'ABCDE'].map((label) => ({ label, text: `claim ${label.toLowerCase()}` }));

describe('the repaired rule', () => {
  it.each([
    ...['(B)', '[B]', '**B**', '**B.**', '`B`', '"B"', '\\boxed{B}', '$\\boxed{B}$', '\\(B\\)', '$\\text{B}$', '{b}'],
    ...['Answer: B', 'answer: **B**.', 'Option B', 'option (b)', 'The correct answer is B.', 'The answer is $B$.'],
    ...[
      '(B) claim b',
      '**B.** since it holds',
      'Answer: (B) because',
      'Therefore, the final answer is: \\boxed{\\text{B}}',
    ],
  ])('reads %j as B', (answer) => {
    expect(readChoice(answer, CHOICES, 'repaired')).toBe('B');
    expect(readChoice(answer, CHOICES, 'reference')).not.toBe('B');
  });

  it.each([
    ...[
      'A* is the dual',
      '$A* = B$',
      '$A$ is compact',
      '$A \\subset B$',
      "A' is dense",
      '$A$-modules are flat',
      '(F)',
      'Answer: none',
      'the a b c',
    ],
    ...['AB', '\\boxed{12}', 'answer', '', 'option', '**', 'both (A) and (B)', 'not B'],
  ])('reads no choice into %j', (answer) => {
    expect([...'ABCDE']).not.toContain(readChoice(answer, CHOICES, 'repaired'));
  });

  it('reads what the reference reads in the same way, whatever the answer is', () => {
    const pieces = fc.constantFrom(...'ABF()[]{}*_`$".: ', '\\boxed{', 'answer', 'option ', 'claim a', 'the ', '\n');
    const answer = fc.oneof(
      hostileText,
      fc.string(),
      fc.array(pieces).map((list) => list.join('')),
    );
    fc.assert(
      fc.property(answer, (text) => {
        const reference = readChoice(text, CHOICES, 'reference');
        const repaired = readChoice(text, CHOICES, 'repaired');
        if ([...'ABCDE'].includes(reference)) expect(repaired).toBe(reference);
        else expect(['A', 'B', 'C', 'D', 'E', reference]).toContain(repaired);
      }),
    );
  });

  it.each(['(', '*', 'the ', '\\boxed{', 'A)', '.', ' ', '$', '\\', '**Answer: '])(
    'is done at once with a long answer of %j',
    (piece) => {
      const long = piece.repeat(200_000);
      for (const text of [long, `${long}B`, `B${long}`, `(B${long}x`])
        expect(readChoice(text, CHOICES, 'repaired')).toBeDefined();
    },
  );
});

const SETTINGS = parseWith(livemath.settings, {}, 'settings');
const reader = { files: new DataFiles([]), keep: () => Promise.reject(new Error('no files')) };

async function itemOf(value: unknown, settings: object = {}, where = 'data/202511/qa_202511_final.json:3') {
  const read = { reader, settings: { ...SETTINGS, ...settings } };
  return (await readRows(livemath, [{ value, where }], read))[0]!.value;
}

const texts = ({ choices }: LiveMathItem) => choices.map(({ text }) => text).join('');
const LISTED = [...'vwxyz'].map((text, index) => ({ label: labelAt(index), text }));

describe('a row', () => {
  /** The order for this id and seed is BEDCA. */
  const expected = {
    id: '202511:1',
    question: 'Which?',
    choices: [...'wzyxv'].map((text, index) => ({ label: labelAt(index), text })),
    correctChoice: 'A',
    shuffledWith: 42,
  };

  it('has its choices in the order of the seed, with new letters', async () => {
    expect(await itemOf({ id: '202511:1', question: 'Which?', choices: LISTED, correct_choice: 'B' })).toEqual(
      expected,
    );
  });

  const question = 'Which?';
  const byLetter = Object.fromEntries(LISTED.map(({ label, text }) => [label, text]));
  it.each([
    ['as upstream has it', { no: 1, mcq: { question, choices: LISTED, correct_choice: { label: 'B', text: 'w' } } }],
    ['that names its month', { month: '202511', no: 1, question, choices: LISTED, correct_choice: { label: 'b.' } }],
    ['with choices by letter', { no: 1, mcq: { question, choices: byLetter, correct_choice: 'B' } }],
    ['with choices as texts', { no: 1, question, choices: [...'vwxyz'], correct_choice: 'w' }],
    [
      'with other labels',
      { no: 1, question, choices: LISTED.map((one) => ({ ...one, label: `${one.label}.` })), correct_choice: 'B' },
    ],
    [
      'that tells the right choice apart from the wrong ones',
      {
        no: 1,
        question,
        choices: LISTED.filter(({ label }) => label !== 'B'),
        correct_choice: { label: 'B', text: 'w' },
      },
    ],
  ])('%s gives the same item', async (_, row) => {
    expect(await itemOf(row)).toEqual(expected);
  });

  it('keeps theorem, sketch, paper and the first kind of its theorem', async () => {
    const more = {
      theorem: 'T',
      sketch: 'S',
      theorem_type: ['Implication', 'Universal'],
      paper_link: 'http://a.test/1',
    };
    const item = await itemOf({ no: 1, ...more, question, choices: LISTED, correct_choice: 'B' });
    expect(item).toEqual({ ...expected, theorem: 'T', sketch: 'S', taskType: 'Implication', paper: 'http://a.test/1' });
    expect(livemath.groupsOf!(item)).toEqual(['paper http://a.test/1']);
    expect(livemath.questionOf(item)).toBe('Which?\nv\nw\nx\ny\nz');
    expect(livemath.goldOf(item)).toBe('w');
  });

  it('that was written by us gives the same item again, and with other settings that of the source', async () => {
    const label = fc.integer({ min: 0, max: 6 });
    const order = fc.oneof(
      fc.record({ shuffleChoices: fc.constant(true), shuffleSeed: fc.integer() }),
      fc.constant({ shuffleChoices: false }),
    );
    await fc.assert(
      fc.asyncProperty(fc.stringMatching(/^\w{1,9}$/), label, order, order, async (id, right, first, second) => {
        const source = { id, question, choices: [...'tuvwxyz'], correct_choice: labelAt(right) };
        const written = JSON.parse(JSON.stringify(await itemOf(source, first)));
        expect(await itemOf(written, first)).toEqual(written);
        const read = await itemOf(written, second);
        expect(read).toEqual(await itemOf(source, second));
        expect(livemath.goldOf(read)).toBe('tuvwxyz'[right]);
      }),
    );
  });

  it('stays as it is without a shuffle', async () => {
    const item = await itemOf({ no: 1, question, choices: LISTED, correct_choice: 'B' }, { shuffleChoices: false });
    expect([texts(item), item.correctChoice, item.shuffledWith]).toEqual(['vwxyz', 'B', undefined]);
  });

  it.each([
    [{ question, choices: LISTED, correct_choice: 'B' }, 'a question has an "id", or "month" and "no"'],
    [
      { no: 1, question, choices: LISTED, correct_choice: 'F' },
      'the right choice must be one of A, B, C, D, E, got "F"',
    ],
    [{ no: 1, question, choices: LISTED }, 'the right choice must be one of A, B, C, D, E, got undefined'],
    [{ no: 1, question, choices: [], correct_choice: 'A' }, 'the right choice must be one of the choices, got "A"'],
    [{ no: 1, question, choices: [...LISTED, LISTED[0]], correct_choice: 'A' }, 'two choices are labelled A'],
    [{ no: 1, question, choices: ['v'], correct_choice: 'A' }, '"choices" must have at least 2 choices'],
    [{ no: 1, choices: LISTED, correct_choice: 'A' }, '"question" must be non-empty text'],
  ])('%j is refused, and the reason told', async (row, problem) => {
    const error = { code: 'TASKS_INVALID', message: expect.stringContaining(problem) };
    await expect(itemOf(row)).rejects.toMatchObject(error);
  });
});

describe('what a person downloaded', () => {
  const row = (text: string) => ({ mcq: { question: text, choices: ['a', 'b'], correct_choice: 'A' } });
  const rowsIn = async (files: Record<string, unknown>) => {
    const written = Object.fromEntries(Object.entries(files).map(([name, rows]) => [name, JSON.stringify(rows)]));
    using folder = tempFolder(written);
    const reading = { ...reader, files: new DataFiles([folder.path]) };
    const rows = await livemath.findRows!(reading);
    const items = await readRows(livemath, rows, { reader: reading, settings: SETTINGS });
    return items.map(({ value }) => `${value.id} ${value.question}`);
  };

  it('is read from the monthly files, which name the month', async () => {
    const files = {
      'data/202511/qa_202511_final.json': [{ no: 7, ...row('one') }, row('two')],
      'data/202512/qa_202512_final.json': [{ no: '3', ...row('three') }],
      'data/202512/summary.json': [{ rows: 1 }],
    };
    expect(await rowsIn(files)).toEqual(['202511:7 one', '202511:2 two', '202512:3 three']);
  });

  it('is read from whatever there is without such files', async () => {
    expect(await rowsIn({ 'rows.json': [{ id: 'x', ...row('one') }] })).toEqual(['x one']);
  });
});

describe('settings', () => {
  it('may come as text, and under the names of SkillOpt', async () => {
    const folder = fileURLToPath(new URL('../../../examples/benchmarks/livemath', import.meta.url));
    const extras = { shuffle_choices: 'false', use_theorem: 'True', max_completion_tokens: '99', exec_timeout: 300 };
    const flags = { env: 'livemath', splitDir: folder, target: 'openai:none' };
    const loaded = await loadProject({ flags: { ...flags, extras }, cwd: '.' });
    const env = await loadEnv(loaded);
    expect(env.version).toContain('theorem true, sketch false, output 99');
    expect(await env.getItems('train')).toMatchObject([{ correctChoice: 'C' }, {}, {}, {}]);
  });

  it.each([{ rule: 'loose' }, { shuffleChoices: 'perhaps' }, { shuffleSeed: 1.5 }, { maxCompletionTokens: 0 }])(
    '%j is refused',
    (extras) => {
      expect(() => parseWith(livemath.settings, extras, 'bad')).toThrow(Object.keys(extras)[0]);
    },
  );
});

const CONFIG = 'examples/benchmarks/livemath/skillopt.config.yaml';
const demo = async (flags: Readonly<Record<string, unknown>> = {}) =>
  loadEnv(await loadProject({ flags, config: CONFIG, cwd: fileURLToPath(new URL('../../../', import.meta.url)) }));

const SPLITS = ['train', 'val', 'test'];
const itemsOf = async (env: SkillEnv) =>
  (await Promise.all(SPLITS.map((split) => env.getItems(split)))).flat() as unknown as LiveMathItem[];

async function attemptAll(env: SkillEnv, reply: (item: LiveMathItem, question: string) => string) {
  const items = await itemsOf(env);
  const { signal } = new AbortController();
  const attempts = items.map((item) => {
    const target = scripted('oracle', ({ messages }) => reply(item, messages.at(-1)!.content));
    return env.rolloutOne({ item: item as never, skill: '# Skill\n', target, extras: {}, signal });
  });
  return Promise.all(attempts);
}

describe('the twelve items of the example', () => {
  const hards = (results: readonly { hard: number; soft: number }[]) =>
    results.map(({ hard, soft }) => (hard === soft ? hard : Number.NaN));

  it('are scored 1 when the answer is right, as a letter or as a text', async () => {
    const env = await demo();
    expect((await itemsOf(env)).map(({ id }) => id)).toHaveLength(12);
    const letters = await attemptAll(env, ({ correctChoice }, asked) => {
      expect(asked).toContain(`${correctChoice}. `);
      return `It holds. <answer>${correctChoice}</answer>`;
    });
    expect(hards(letters)).toEqual(Array(12).fill(1));
    expect(hards(await attemptAll(env, (item) => livemath.goldOf(item)))).toEqual(Array(12).fill(1));
    expect(await env.tryScoring!()).toEqual({
      detail: 'the right answer scores 1 on 3 items',
      passesAll: false,
    });
    expect(env.warnings).toEqual([]);
  });

  it('are scored 0 when nothing is answered, or another choice, and say why', async () => {
    const env = await demo();
    const nothing = await attemptAll(env, () => '<answer></answer>');
    expect(hards(nothing)).toEqual(Array(12).fill(0));
    expect(nothing[0]).toMatchObject({ failReason: expect.stringMatching(/^expected [A-E], got ""$/) });
    const wrong = await attemptAll(env, ({ correctChoice }) => (correctChoice === 'A' ? 'B' : 'A'));
    expect(hards(wrong)).toEqual(Array(12).fill(0));
  });

  it('are asked with theorem and sketch only if the project says so', async () => {
    const asked: string[] = [];
    const note = (_: LiveMathItem, question: string) => asked.push(question).toString();
    await attemptAll(await demo(), note);
    expect(asked.filter((text) => /theorem behind|How it is proved/.test(text))).toEqual([]);
    await attemptAll(await demo({ extras: { useTheorem: true, useSketch: true } }), note);
    expect(asked.filter((text) => text.includes('The theorem behind it:\n'))).toHaveLength(2);
    expect(asked.filter((text) => text.includes('How it is proved:\n'))).toHaveLength(1);
  });

  it('are not scored when the call fails', async () => {
    const failing = attemptAll(await demo(), () => {
      throw new ModelCallError('the server is away', { isRetryable: true });
    });
    await expect(failing).rejects.toBeInstanceOf(ModelCallError);
  });

  it('load with the YAML of SkillOpt', async () => {
    using folder = tempFolder();
    cpSync(fileURLToPath(new URL('../../../examples/benchmarks/livemath', import.meta.url)), folder.path, {
      recursive: true,
    });
    const config = fileURLToPath(
      new URL('../../fixtures/skillopt-configs/livemathematicianbench/default.yaml', import.meta.url),
    );
    const loaded = await loadProject({ flags: { splitDir: folder.path }, config, cwd: folder.path });
    const env = await loadEnv(loaded);
    expect(env.name).toBe('livemath');
    expect((await itemsOf(env)).map(({ shuffledWith }) => shuffledWith)).toEqual(Array(12).fill(42));
    expect(await findBenchmark('livemathematicianbench')).toBe(livemath);
  });
});

describe('items that give themselves away', () => {
  const filler = 'One of the others holds.';
  const write = (count: number) =>
    Array.from({ length: 10 }, (_, no) => {
      const choices = ['a', 'b', 'c'].map((text) => `${text} ${no}`);
      return {
        id: `q${no}`,
        question: `Which? ${no}`,
        choices: no < count ? [filler, ...choices] : choices,
        correct_choice: 'A',
      };
    });
  const open = async (rows: readonly object[], extras: object = {}) => {
    const files = { train: rows.slice(0, 4), val: rows.slice(4, 6), test: rows.slice(6) };
    const entries = Object.entries(files).map(([name, items]) => [`${name}/items.json`, JSON.stringify(items)]);
    using folder = tempFolder(Object.fromEntries(entries));
    const flags = { env: 'livemath', splitDir: folder.path, target: 'openai:none', extras };
    const env = await loadEnv(await loadProject({ flags, cwd: folder.path }));
    return { warnings: env.warnings, ids: (await itemsOf(env)).map(({ id }) => id) };
  };

  it('are told: a choice that recurs and is right each time', async () => {
    const { warnings, ids } = await open(write(7));
    expect(ids).toHaveLength(10);
    expect(warnings).toEqual([
      '7 of 10 items offer "One of the others holds.", which is right each time: a skill can learn the sentence instead of the mathematics. extras.leaveOutFlawed: true leaves them out',
    ]);
  });

  it('can be left out', async () => {
    expect(await open(write(7), { leaveOutFlawed: true })).toEqual({ warnings: [], ids: ['q7', 'q8', 'q9'] });
  });

  it('are not found in a few accidents, nor where the choice is wrong once', async () => {
    expect((await open(write(3))).warnings).toEqual([]);
    const [first, ...rest] = write(7);
    expect((await open([{ ...first, correct_choice: 'B' }, ...rest])).warnings).toEqual([]);
  });
});
