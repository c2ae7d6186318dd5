import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../../../src/cli/index.ts';
import { captureIo } from '../../../support/capture-io.ts';
import { PROJECT, worldFolder } from './world-folder.ts';

const line = (row: object) => `${JSON.stringify(row)}\n`;
const many = (count: number) =>
  Array.from({ length: count }, (_, n) =>
    line({ id: `q${n}`, question: `What is ${n} plus ${n * 7}?`, answers: String(8 * n) }),
  ).join('');
const codes = ({ findings }: { findings: { code: string }[] }) => findings.map(({ code }) => code);

describe('tasks check', () => {
  it('finds nothing wrong with tasks that are fine', async () => {
    using folder = worldFolder({ 'tasks.jsonl': many(60) });
    const { code, out } = await folder.cli('tasks', 'check');
    expect([code, out]).toEqual([0, '60 tasks in tasks.jsonl: nothing is wrong with them\n']);
  });

  it('says how many groups splitBy draws', async () => {
    const rows = many(60)
      .trim()
      .split('\n')
      .map((row, no) => line({ ...JSON.parse(row), document: `d${no % 20}` }));
    using folder = worldFolder({
      'skillopt.config.yaml': 'tasks: tasks.jsonl\nsplitBy: document\n',
      'tasks.jsonl': rows.join(''),
    });
    const { out } = await folder.cli('tasks', 'check');
    expect(out).toBe('60 tasks in 20 groups in tasks.jsonl: nothing is wrong with them\n');
    expect((await folder.cli('tasks', 'check', '--json')).json()).toMatchObject({ tasks: 60, groups: 20 });
  });

  it('names contradictory, repeated, unreviewed and left-out tasks, and writes the rest elsewhere', async () => {
    const rows = [
      line({ id: 'a1', question: 'Which colour has ticket 4711?', answers: 'red' }),
      line({ id: 'a2', question: 'which colour has ticket 4711', answers: 'blue' }),
      line({ id: 'b1', question: 'How much was bill 8812 of Monday?', answers: '$5' }),
      line({ id: 'b2', question: 'Please tell me: how much was bill 8812 of Monday?', answers: '$5' }),
      line({ question: 'Who signed form 99?', answers: 'Ada', drafted: true, reviewed: false, doubtful: true }),
      line({ question: 'Who signed form 99?', answers: 'Ada' }),
    ].join('');
    using folder = worldFolder({ 'tasks.jsonl': many(60) + rows });
    const { code, json } = await folder.cli('tasks', 'check', '--fix', '--out', 'clean.jsonl', '--json');
    const answer = json();
    expect(code).toBe(0);
    expect(codes(answer)).toEqual(
      expect.arrayContaining(['contradictory', 'near-duplicated', 'left-out', 'doubtful', 'unreviewed']),
    );
    const found = (wanted: string) => answer.findings.find(({ code }: { code: string }) => code === wanted).tasks;
    expect([found('contradictory'), found('near-duplicated')]).toEqual([['a1', 'a2'], ['b2']]);
    expect(answer.fixed).toEqual({ file: 'clean.jsonl', tasks: 62, removed: 3 });
    expect(folder.rows('clean.jsonl').at(-1)).toMatchObject({ question: 'Who signed form 99?', drafted: true });
    const again = await folder.cli('tasks', 'check', '--fix', '--out', 'clean.jsonl');
    expect([again.code, again.err]).toEqual([2, expect.stringContaining('overwrites nothing')]);
  });

  it('keeps the column that groups tasks when it writes the rows of a table', async () => {
    const rows = Array.from({ length: 60 }, (_, at) => `"What is ${at}?",${at},book ${at % 20}`);
    using folder = worldFolder({
      'skillopt.config.yaml': 'tasks: tasks.csv\nsplitBy: book\n',
      'tasks.csv': ['question,answers,book', ...rows, ''].join('\n'),
    });
    const found = await folder.cli('tasks', 'check', '--fix', '--out', 'clean.jsonl', '--json');
    expect(found.json().fixed).toEqual({ file: 'clean.jsonl', tasks: 60, removed: 0 });
    expect(folder.rows('clean.jsonl')[3]).toMatchObject({ question: 'What is 3?', book: ['book 3'] });
  });

  it('ends with 1 when training makes no sense, and says what would', async () => {
    using folder = worldFolder({ 'tasks.jsonl': many(6) });
    const { code, out } = await folder.cli('tasks', 'check');
    expect(code).toBe(1);
    expect(out).toContain('too-few  6 tasks: 2 to learn from, 2 to choose by, 2 for the proof');
    expect(out).toContain('makes no sense yet');
  });

  it('counts one task as one', async () => {
    const drafted = { drafted: true, reviewed: false, doubtful: true };
    using folder = worldFolder({ 'tasks.jsonl': line({ id: 'a', question: 'Who?', answers: 'Ada', ...drafted }) });
    const { out } = await folder.cli('tasks', 'check');
    expect(out).toContain('hardly-any  1 task: ');
    expect(out).toContain('1 drafted task has a reference');
    expect(out).toContain('1 of 1 task was drafted');
    expect(out).not.toMatch(/\b1 (drafted )?tasks\b/);
  });

  it('finds answers that the skill gives away', async () => {
    using folder = worldFolder({ ...PROJECT, 'tasks.jsonl': many(60) });
    const { question, answers } = folder.world.items.train.find(({ taskType }) => taskType === 'phones')!;
    folder.write('tasks.jsonl', many(60) + line({ id: 'given', question, answers }));
    const given = (await folder.cli('tasks', 'check', '--json')).json().findings;
    expect(given).toContainEqual(expect.objectContaining({ code: 'answers-in-skill', tasks: ['given'] }));
  });

  it('measures with the code of calibrate: tasks that are passed already are too easy', async () => {
    const easy = Array.from({ length: 40 }, (_, n) =>
      line({ question: `Cold room ${100000 + n} was at ${n} °C. What was the temperature?`, answers: `${n} °C` }),
    );
    const config = PROJECT['skillopt.config.yaml'].replace(
      'target: simulated',
      'target: { provider: simulated, noise: 0 }',
    );
    using folder = worldFolder({ 'skillopt.config.yaml': config, 'tasks.jsonl': easy.join('') });
    const { code, json } = await folder.cli('tasks', 'check', '--measure', '--quiet', '--json');
    expect(code).toBe(1);
    expect(codes(json())).toContain('too-easy');
    expect(existsSync(join(folder.path, 'runs', '.eval'))).toBe(true);
  });
});

describe('tasks check of a large file', () => {
  const rows = (count: number, more: (at: number) => object) =>
    Array.from({ length: count }, (_, at) =>
      line({ id: `q${at}`, question: `What is ${at} plus one in {text}?`, answers: `a${at}`, ...more(at) }),
    ).join('');

  it('takes a kind for each task, and a placeholder in each, and names some of what it finds', async () => {
    using folder = worldFolder({ 'tasks.jsonl': rows(12_000, (at) => ({ taskType: `kind ${at}`, text: 'a book' })) });
    const { findings } = (await folder.cli('tasks', 'check', '--json')).json();
    expect(findings).toMatchObject([
      { code: 'unfilled', what: expect.stringMatching(/^12000 of 12,000 questions .* \{text\}/) },
      { code: 'unbalanced', what: expect.stringMatching(/is of the kind (?:kind \d+, ){9}kind \d+ and \d+ more$/) },
    ]);
  });

  it('takes no word of a question for a column that no row has', async () => {
    using folder = worldFolder({
      'tasks.jsonl': many(60) + line({ id: 'x', question: 'What is {constructor}?', answers: 'x' }),
    });
    expect((await folder.cli('tasks', 'check')).code).toBe(0);
    expect(codes((await folder.cli('tasks', 'check', '--json')).json())).toEqual([]);
  });

  it('says on a terminal what it is at, and takes it away', async () => {
    using folder = worldFolder({ 'tasks.jsonl': many(60) });
    const checkIn = async (isTTY: boolean, ...flags: string[]) => {
      const io = captureIo({ isTTY, columns: 80, cwd: folder.path, env: { NO_COLOR: '1' } });
      await runCli(['tasks', 'check', ...flags], io);
      return io.err();
    };
    const err = await checkIn(true);
    expect(err).toMatch(/reading the tasks …\n.*checking 60 tasks …\n/s);
    expect(err.slice(err.lastIndexOf('checking'))).toContain('\x1b[1F\x1b[J');
    expect([await checkIn(true, '--quiet'), await checkIn(false)]).toEqual(['', '']);
  });
});

describe('tasks review', () => {
  const drafted = (id: string) => line({ id, question: `${id}?`, answers: 'yes', drafted: true, reviewed: false });

  it('lists what nobody reviewed where nobody can be asked', async () => {
    using folder = worldFolder({ 'tasks.jsonl': many(2) + drafted('x') });
    expect((await folder.cli('tasks', 'review', '--json')).json()).toMatchObject({
      unreviewed: 1,
      tasks: [{ id: 'x' }],
    });
  });

  it('keeps all, and changes no other line', async () => {
    using folder = worldFolder({ 'tasks.jsonl': `${many(2)}${drafted('x')}${drafted('y')}` });
    const { json } = await folder.cli('tasks', 'review', '--keep-all', '--json');
    expect(json()).toMatchObject({ kept: 2, unreviewed: 0 });
    expect(folder.read('tasks.jsonl').startsWith(many(2))).toBe(true);
    expect(folder.rows().slice(2)).toMatchObject([
      { id: 'x', reviewed: true },
      { id: 'y', reviewed: true },
    ]);
  });

  it('refuses a file that is not there', async () => {
    using folder = worldFolder({});
    const { code, err } = await folder.cli('tasks', 'review');
    expect([code, err]).toEqual([2, expect.stringContaining('tasks.jsonl does not exist')]);
    expect(err).toContain('skillopt tasks draft');
  });

  it('refuses a file that has no lines of tasks', async () => {
    using folder = worldFolder({ 'tasks.csv': 'question,answers\nWho?,I\n' });
    const { code, err } = await folder.cli('tasks', 'review', 'tasks.csv');
    expect([code, err]).toEqual([2, expect.stringContaining('expected a file with a JSON object per line')]);
  });
});
