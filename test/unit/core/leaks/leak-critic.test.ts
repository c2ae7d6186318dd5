import { describe, expect, it } from 'vitest';
import { findLeaks, type GuardedItem } from '../../../../src/public/stats.ts';
import { guardedItems } from '../../../../src/train/step/guard-edits.ts';

const item = (split: GuardedItem['split'], id: string, text: string, ...answers: string[]): GuardedItem => ({
  id,
  split,
  texts: [text],
  answers,
});

const items = [
  item('train', 'train-001', 'Which river flows through the old city of Verona?', 'Adige'),
  item('train', 'train-002', 'Name the tallest building on the harbour in Rotterdam.', 'Zalmhaven'),
  item('val', 'val-017', 'Who painted the ceiling of the small chapel in Padua?', 'Giotto'),
  item('val', 'val-018', 'What is the answer to six times nine, in words?', 'fifty-four', '54'),
  item('val', 'val-019', 'Reply with yes or no: is Verona in Italy?', 'yes'),
  item('test', 'test-003', 'Reply with yes or no: is Padua in Spain?', 'no', 'yes'),
  item('test', 'test-004', '请用一句话说明京都最古老的木造寺院的名字和年代', '法隆寺'),
];
const leaks = (edit: string, more = {}) => findLeaks({ edit, items, ...more });

describe('the leak critic', () => {
  it('lets a rule pass', () => {
    expect(leaks('Answer in one line. Check units, and say yes or no first when asked.')).toMatchObject({
      isRefused: false,
      reason: undefined,
      findings: [],
      memorisedShare: 0,
    });
  });

  it.each([
    ['an id', 'Take care with VAL-017.', { kind: 'id', id: 'val-017' }],
    ['an answer', 'For the chapel in Padua, say “giotto”.', { kind: 'answer', id: 'val-017' }],
    ['an answer of two words', 'Six times nine is Fifty Four.', { kind: 'answer', id: 'val-018' }],
    ['words in a row', 'If asked who painted the ceiling of something, think.', { kind: 'phrase', id: 'val-017' }],
    ['an answer without spaces', '京都最古老的是法隆寺。', { kind: 'answer', id: 'test-004' }],
  ])('refuses %s of a held-out item and says which', (_, edit, finding) => {
    const report = leaks(edit);
    expect(report).toMatchObject({ isRefused: true, findings: [finding] });
    expect(report.reason).toContain(finding.id);
  });

  it('finds words in a row wherever they stand, in any script', () => {
    const words = 'Who painted the ceiling of the small chapel in Padua'.split(' ');
    for (let start = 0; start + 5 <= words.length; start++) {
      const found = leaks(`Ask: ${words.slice(start, start + 5).join(' ')}!`).findings;
      expect(found).toMatchObject([{ kind: 'phrase', id: 'val-017' }]);
      expect(leaks(`Ask: ${words.slice(start, start + 4).join(' ')}!`).findings).toEqual([]);
    }
    expect(leaks('说明京都最古老的木造寺').findings).toMatchObject([{ kind: 'phrase', id: 'test-004' }]);
    expect(leaks('请用一句话说明京都').findings).toEqual([]);
  });

  it('allows what several items share, and what the contract holds', () => {
    expect(leaks('Reply with yes or no: is it so?').isRefused).toBe(false);
    expect(leaks('Say Giotto.', { contract: ['Painters are Giotto and Masaccio.'] }).isRefused).toBe(false);
  });

  it('does not find a name inside another word, nor a small number', () => {
    expect(leaks('Giottoesque answers in at most 54 words.').isRefused).toBe(false);
  });

  it('reports what is memorised of training items, and refuses it beyond a limit', () => {
    const edit = 'If asked which river flows through the old town, say its name.';
    expect(leaks(edit)).toMatchObject({ isRefused: false, memorisedShare: 0.5, memorised: [{ id: 'train-001' }] });
    expect(leaks(edit, { maxMemorisedShare: 0.5 }).isRefused).toBe(false);
    expect(leaks(edit, { maxMemorisedShare: 0.4 }).reason).toContain('50 % of the training items');
  });

  it('has an answer for an empty edit and no items', () => {
    expect(leaks('').isRefused).toBe(false);
    expect(findLeaks({ edit: 'Anything.', items: [] })).toMatchObject({ isRefused: false, memorisedShare: 0 });
  });
});

/** Tasks of a run: one is held out, the others ask about other things. */
const guard = (held: object, others: readonly object[] = []) =>
  guardedItems({
    train: others.map((fields, index) => ({ id: `train-${index}`, ...fields })),
    val: [{ id: 'val-1', ...held }],
    test: [],
  });
const reasonFor = (edit: string, held: object) => findLeaks({ edit, items: guard(held) }).reason;

describe('a short answer', () => {
  it.each([
    ['You may use abbreviations.', 'In which month did the flood happen?', 'May'],
    ['Answer with one word.', 'How many moons does the Earth have?', 'one'],
    ['Answer with one word.', 'How many?', 'one'],
    ['If there is none, say so.', 'What is left of the wages after the fine?', 'none'],
    ['If the record does not say, answer unknown.', 'Who wrote the epic of Gilgamesh?', 'unknown'],
    ['Answer true or false.', 'Is the claim about the comet right?', 'true'],
    ['Write the colour in lower case, such as blue.', 'What colour is the sky on a clear day?', 'blue'],
    ['Answer with the name of the city alone, such as Paris.', 'What is the capital of France?', 'Paris'],
    ['Write prices with two decimals, such as 10.00.', 'What does the ticket to Bern cost?', '10.00'],
    ['Write the year with four digits, such as 1969.', 'Which year did the moon landing take place?', '1969'],
    ['Write money as USD 12.50.', 'Which currency does Ecuador use?', 'USD'],
    ['Write numbers above 10,000 with a comma.', 'How many people live in Vaduz?', '10000'],
    [`On a clear sky. ${'Be brief. '.repeat(15)} Write words: blue.`, 'What colour is the clear sky?', 'blue'],
  ])('may stand in a rule: %s', (edit, question, answer) => {
    expect(reasonFor(edit, { question, answer })).toBeUndefined();
  });

  it.each([
    ['The moon landing took place in 1969.', 'Which year did the moon landing take place?', '1969'],
    ['On a clear day the sky is blue.', 'What colour is the sky on a clear day?', 'blue'],
    ['If asked about France, say Paris.', 'What is the capital of France?', 'Paris'],
    ['Account 4711 is blocked, mostly.', 'What is the state of account 4711?', 'blocked'],
    ['Grass is green.', 'What is grass?', 'green'],
  ])('is refused beside words that say which task it answers: %s', (edit, question, answer) => {
    expect(reasonFor(edit, { question, answer })).toContain(`an answer of val item val-1: "${answer}"`);
  });

  it('is not given to a task by words that many tasks use, or the skill', () => {
    const ask = (animal: string) => ({ question: `How fast does the animal ${animal} run?`, answer: animal.length });
    const items = guard(
      { question: 'How fast does the animal gnu run?', answer: 'medium' },
      ['ox', 'cow', 'ape'].map(ask),
    );
    const edit = 'For how fast an animal does run, write slow, medium or fast.';
    expect(findLeaks({ edit, items }).reason).toBeUndefined();
    expect(findLeaks({ edit: 'Gnu: medium.', items }).reason).toContain('"medium"');
    expect(findLeaks({ edit: 'Gnu: medium.', items, contract: ['The gnu is an animal.'] }).reason).toBeUndefined();
  });
});

/** As `guard`, for a task to learn from. */
const guardTrained = (task: object, others: readonly object[] = []) =>
  guardedItems({
    train: [task, ...others].map((fields, index) => ({ id: `train-${index}`, ...fields })),
    val: [],
    test: [],
  });
const copiedIn = (edit: string, task: object, others: readonly object[] = [], more = {}) =>
  findLeaks({ edit, items: guardTrained(task, others), ...more }).reason;

describe('the answer of a training task', () => {
  it.each([
    ['The moon landing took place in 1969.', 'Which year did the moon landing take place?', '1969'],
    ['On a clear day the sky is blue.', 'What colour is the sky on a clear day?', 'blue'],
    ['If asked about France, say Paris.', 'What is the capital of France?', 'Paris'],
    ['Account 4711 is blocked, mostly.', 'What is the state of account 4711?', 'blocked'],
    ['Grass is green.', 'What is grass?', 'green'],
    ['The exclusion principle is by Wolfgang Pauli.', 'Who found the exclusion principle?', 'Wolfgang Pauli'],
    ['Lot 88 cost 5,252.75 at the auction.', 'What did the lot with the harp cost at the auction?', '5252.75'],
    ['Use the code kx42vw91zz07.', 'Which?', 'KX42VW91ZZ07'],
    ['Say that seven old grey geese cross it.', 'Which?', 'seven old grey geese cross'],
    ['京都最古老的木造寺院是法隆寺。', '请用一句话说明京都最古老的木造寺院的名字和年代', '法隆寺'],
  ])('is refused as a copy: %s', (edit, question, answer) => {
    const reason = `it repeats the answer of training task train-0: "${answer}"`;
    expect(copiedIn(edit, { question, answer })).toBe(reason);
    expect(findLeaks({ edit, items: guardTrained({ question, answer }) })).toMatchObject({
      isRefused: true,
      findings: [],
      copied: [{ kind: 'answer', split: 'train', id: 'train-0', text: answer }],
    });
  });

  it.each([
    ['Write the year with four digits, such as 1969.', 'Which year did the moon landing take place?', '1969'],
    ['Write dates as 2024-01-15.', 'When did the ship leave?', '2024-01-15'],
    ['Write money with a comma: 5,252.75.', 'What did the lot with the harp cost?', '5252.75'],
    ['Give full names, Wolfgang Pauli and not Pauli.', 'Who found the exclusion principle?', 'Wolfgang Pauli'],
    ['Expenses above 1500 EUR need a signature.', 'From what amount in EUR do expenses need a signature?', '1500'],
    ['Files larger than 65,536 bytes are split.', 'How many ports does a host of the old net have?', '65536'],
    ['Give each length in meters.', 'What unit is the length of a bridge given in?', 'meters'],
    ['Write it in lower case, such as sage-green one.', 'Which of them did the painter take?', 'Sage-green one'],
  ])('may stand in a rule: %s', (edit, question, answer) => {
    expect(copiedIn(edit, { question, answer })).toBeUndefined();
  });

  const task = { question: 'What is the capital of France?', answer: 'Paris' };
  const copy = 'The capital of France is Paris.';

  it('is general where another task has it, or the skill or what is read beside it says it', () => {
    expect(copiedIn(copy, task)).toBeDefined();
    expect(copiedIn(copy, task, [{ question: 'Where does the Seine flow?', answer: 'Paris' }])).toBeUndefined();
    expect(copiedIn(copy, task, [], { contract: ['Cities: Paris, Rome.'] })).toBeUndefined();
    expect(copiedIn(copy, task, [], { surroundings: 'Cities: Paris, Rome.' })).toBeUndefined();
  });

  it('is a label where most tasks share theirs', () => {
    const others = ['Rome', 'Rome', 'Bern', 'Bern'].map((answer, at) => ({ question: `Which one is ${at}?`, answer }));
    expect(copiedIn(copy, task, others)).toBeUndefined();
    expect(copiedIn(copy, task, others.slice(0, 2).concat(others[2]!))).toContain('train-0: "Paris"');
  });

  it.each([
    { checks: [{ op: 'contains', arg: 'Paris' }] },
    { judge: { checks: [{ op: 'contains', arg: 'Paris' }] } },
    { reference: 'Paris', referenceKind: 'rubric' },
    { reference: 'Paris', referenceKind: 'none' },
  ])('is a rule where a check, a rubric or a person demands it: %j', (wanted) => {
    expect(copiedIn(copy, { question: task.question, ...wanted })).toBeUndefined();
    expect(reasonFor(copy, { question: task.question, ...wanted })).toContain('an answer of val item');
  });

  it('is named after what is held out', () => {
    const items = [
      ...guardTrained(task),
      ...guard({ question: 'Who painted the ceiling in Padua?', answer: 'Giotto' }),
    ];
    const edit = `${copy} The ceiling in Padua is by Giotto.`;
    expect(findLeaks({ edit, items }).reason).toBe('it repeats an answer of val item val-1: "Giotto"');
  });
});

describe('a long answer', () => {
  it.each([
    ['The answer is 31415926.', 31415926],
    ['Call +1 755 555 4350 then.', '+17555554350'],
    ['Call (755) 555-4350 then.', '7555554350'],
    ['Take 5,252.75 there.', '5252.75'],
    ['Take 5252.75 there.', '5,252.75 USD'],
    ['It was written by WOLFGANG  Pauli.', 'Wolfgang Pauli'],
    ['It may be the sage green one.', 'Sage-green one'],
    ['Use the code kx42vw91.', 'KX42VW91'],
  ])('is refused by itself: %s', (edit, answer) => {
    expect(reasonFor(edit, { question: 'Which?', answer })).toContain(`an answer of val item val-1: "${answer}"`);
  });

  it.each([
    ['Count 3, 14, 15, 926 and so on.', 31415926],
    ['Take 15,252.75 there.', '5252.75'],
    ['Put it at the end of the line.', 'at the end'],
  ])('is not found in %s', (edit, answer) => {
    expect(reasonFor(edit, { question: 'Which?', answer })).toBeUndefined();
  });

  it('is allowed when tasks share it, however they write it, or the contract holds it', () => {
    const items = guard({ question: 'Which?', answer: 5252.75 }, [{ question: 'How much is 5,252.75 and nothing?' }]);
    expect(findLeaks({ edit: 'Take 5252.75.', items }).reason).toBeUndefined();
    const alone = guard({ question: 'Which?', answer: 5252.75 });
    expect(findLeaks({ edit: 'Take 5252.75.', items: alone, contract: ['At most 5 252.75.'] }).reason).toBeUndefined();
  });
});

describe('where a task keeps its answer', () => {
  const answer = 'seven old grey geese';
  const edit = 'Say seven old grey geese.';
  const keys = [
    'answer',
    'Answers',
    'gold',
    'ground_truth',
    'groundTruth',
    'gold_answer',
    'correctAnswer',
    'reference',
  ];
  const more = [
    'expected_output',
    'expected-output',
    'output',
    'target',
    'checks',
    'label',
    'final_answer',
    'solution',
  ];

  it.each([...keys, ...more])('is known: %s', (key) => {
    expect(reasonFor(edit, { question: 'Which?', [key]: answer })).toContain('an answer of val item');
    expect(reasonFor(edit, { question: 'Which?', [key]: [{ text: answer }] })).toContain('an answer of val item');
    expect(reasonFor(edit, { task: { question: 'Which?', [key]: answer } })).toContain('an answer of val item');
  });

  it('may be beside other numbers and texts, which are no answers', () => {
    const held = { question: 'Which?', seed: 31415926, output_format: 'seven letters', answer: 'x' };
    expect(reasonFor('Write 31415926 in seven letters.', held)).toBeUndefined();
  });
});

describe('an id', () => {
  it.each([
    ['Write the date first.', 'date'],
    ['Give the sum.', 'sum'],
    ['Write a comma in numbers above 1000.', '1000'],
    ['Assume the year 2024.', '2024'],
    ['Example 1: count the words.', 'example-1'],
    ['Respect the word count.', 'word-count'],
    ['Take care with q120.', 'q12'],
  ])('is not meant by «%s» (%s)', (edit, id) => {
    expect(reasonFor(edit, { id, question: 'Which?' })).toBeUndefined();
  });

  it.each([
    ['In Q12 say three.', 'q12'],
    ['Mind example-1!', 'example-1'],
    ['For word-count, count.', 'word-count'],
    ['See 4083311.', '4083311'],
  ])('is refused in «%s» (%s)', (edit, id) => {
    expect(reasonFor(edit, { id, question: 'Which?' })).toContain(`the id of val item ${id}`);
  });

  it('is a word of the tasks when their texts use it', () => {
    const items = guard({ id: 'e-mail', question: 'Which?' }, [{ question: 'Write an e-mail.' }]);
    expect(findLeaks({ edit: 'Sign each e-mail.', items }).reason).toBeUndefined();
  });
});

describe('words in a row', () => {
  const question = 'At the end of the day, what is left of it for the miller and his daughter?';

  it.each([
    ['Put it at the end of the line.', undefined],
    ['Say what is left of it.', undefined],
    ['It is for the miller and his daughter.', '"for the miller and his"'],
  ])('need two words that are not in every text: %s', (edit, found) => {
    const reason = reasonFor(edit, { question });
    if (found === undefined) expect(reason).toBeUndefined();
    else expect(reason).toContain(found);
  });

  it('may be common words of any language, if enough tasks use them', () => {
    const question = 'Was bleibt am Ende des Tages?';
    const rest = [
      'Was bleibt des Jahres am Ende?',
      'Am Ende was bleibt des Monats?',
      'Des Tages Ende: was bleibt am Rand?',
    ];
    const others = rest.map((text) => ({ question: text }));
    const edit = 'Sag, was bleibt am Ende des Satzes.';
    expect(findLeaks({ edit, items: guard({ question }, others) }).reason).toBeUndefined();
    expect(findLeaks({ edit, items: guard({ question }) }).isRefused).toBe(true);
  });
});

describe('the same task in two splits', () => {
  const task = { question: 'Who painted the ceiling of the small chapel in Padua?', answer: 'Giotto' };
  const twice = (other: object) =>
    guardedItems({ train: [], val: [{ id: 'val-1', ...task }], test: [{ id: 'test-1', ...task, ...other }] });

  it.each([
    ['Say who painted the ceiling of the house.', 'phrase'],
    ['For the chapel in Padua say Giotto.', 'answer'],
  ])('is not shared by several tasks: %s', (edit, kind) => {
    const { findings } = findLeaks({ edit, items: twice({}) });
    expect(findings).toMatchObject([
      { kind, id: 'val-1' },
      { kind, id: 'test-1' },
    ]);
  });

  it('is another task with another answer', () => {
    const items = twice({ answer: 'Altichiero' });
    expect(findLeaks({ edit: 'Say who painted the ceiling of the house.', items }).isRefused).toBe(false);
    expect(findLeaks({ edit: 'For the chapel in Padua say Giotto.', items }).findings).toMatchObject([{ id: 'val-1' }]);
  });

  it('is told from tasks that have no text', () => {
    const items = guard({ answer: 'seven old grey geese' }, [{ answer: 'seven old grey geese' }]);
    expect(findLeaks({ edit: 'Say seven old grey geese.', items }).isRefused).toBe(false);
  });
});
