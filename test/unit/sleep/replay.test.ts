import { describe, expect, it } from 'vitest';
import { ModelCallError } from '../../../src/core/contracts/index.ts';
import { scripted } from '../../../src/models/index.ts';
import { aggregateScores, isReplayable, replayBatch, replayOne } from '../../../src/sleep/index.ts';
import { sleepTask } from '../../support/sleep/sleep-tasks.ts';

const NO_DOCUMENTS = { skill: '', memory: '' };
const saying = (text: string) => scripted('target', () => text);
const judging = (score: unknown) => scripted('judge', () => JSON.stringify({ score, reason: 'so it is' }));

const exact = sleepTask('exact', { referenceKind: 'exact', reference: 'forty two' });
const rubric = sleepTask('rubric', { referenceKind: 'rubric', reference: 'It is short.' });
const none = sleepTask('none', { intent: 'Name the port' });
const rule = (...checks: object[]) => sleepTask('rule', { referenceKind: 'rule', judge: { checks } });
const twoChecks = rule({ op: 'contains', arg: 'alpha' }, { op: 'contains', arg: 'beta' });

describe('replayOne', () => {
  it('scores by rule: hard is 1 or 0, soft the share of the checks', async () => {
    const all = await replayOne({ target: saying('alpha beta') }, twoChecks, NO_DOCUMENTS);
    expect(all).toMatchObject({ id: 'rule', hard: 1, soft: 1, failReason: '', errored: false, response: 'alpha beta' });
    const half = await replayOne({ target: saying('alpha') }, twoChecks, NO_DOCUMENTS);
    expect(half).toMatchObject({ hard: 0, soft: 0.5, errored: false });
    expect(half.failReason).not.toBe('');
    expect(half.judgeRationale).toBe(half.failReason);
  });

  it('7: does not say what a check looks for, so that it cannot become a rule', async () => {
    const { failReason } = await replayOne({ target: saying('nothing of it') }, twoChecks, NO_DOCUMENTS);
    expect(failReason).not.toMatch(/alpha|beta/);
  });

  it('scores by a reference, without a judge', async () => {
    expect(await replayOne({ target: saying('It is forty-two.') }, exact, NO_DOCUMENTS)).toMatchObject({
      hard: 1,
      soft: 1,
    });
    expect(await replayOne({ target: saying('It is forty.') }, exact, NO_DOCUMENTS)).toMatchObject({
      hard: 0,
      soft: 0.5,
    });
  });

  it.each([
    [0.9, 1],
    [0.8, 1],
    [0.79, 0],
  ])('scores by a rubric: %s is hard %s', async (score, hard) => {
    const judge = judging(score);
    expect(await replayOne({ target: saying('short'), judge }, rubric, NO_DOCUMENTS)).toMatchObject({
      hard,
      soft: score,
    });
    expect(judge.requests).toHaveLength(2);
    expect(JSON.stringify(judge.requests[0]!.messages)).toContain('It is short.');
  });

  it('scores a task without a reference by whether it does what was asked', async () => {
    const judge = judging(1);
    expect(await replayOne({ target: saying('8080'), judge }, none, NO_DOCUMENTS)).toMatchObject({ hard: 1, soft: 1 });
    expect(JSON.stringify(judge.requests[0]!.messages)).toContain('The answer does what was asked');
  });

  it.each([7, -1, 'NaN', null])('6: a judge that says %s has given no score', async (score) => {
    const result = await replayOne({ target: saying('short'), judge: judging(score) }, rubric, NO_DOCUMENTS);
    expect(result).toMatchObject({ errored: true, hard: 0, soft: 0 });
    expect(aggregateScores([result]).scored).toBe(0);
  });

  it('2: an empty reply is no score, whatever scores the task', async () => {
    for (const task of [twoChecks, exact, rubric]) {
      const judge = judging(0);
      const result = await replayOne({ target: saying(' \n'), judge }, task, NO_DOCUMENTS);
      expect(result).toMatchObject({ errored: true, failReason: expect.stringContaining('empty') });
      expect(judge.requests).toEqual([]);
    }
  });

  it('2: a target or a judge out of reach throws, and nothing is scored', async () => {
    const down = scripted('down', () => {
      throw new ModelCallError('down', { status: 503 });
    });
    await expect(replayOne({ target: down }, exact, NO_DOCUMENTS)).rejects.toThrow(ModelCallError);
    await expect(replayOne({ target: saying('a'), judge: down }, rubric, NO_DOCUMENTS)).rejects.toThrow(ModelCallError);
  });

  it('has no score for a task whose judge nobody gave', async () => {
    const task = sleepTask('command', { referenceKind: 'command', judge: { command: ['true'] } });
    expect(await replayOne({ target: saying('done') }, task, NO_DOCUMENTS)).toMatchObject({
      errored: true,
      failReason: expect.stringContaining('command'),
    });
  });

  it('counts the tools that are called on a line, each once', async () => {
    const text = 'tool_call: search\nI would not tool_call: guess\n  tool_call: read_file\ntool_call: search';
    const task = rule({ op: 'tool_called', arg: 'search' });
    expect(await replayOne({ target: saying(text) }, task, NO_DOCUMENTS)).toMatchObject({
      toolsCalled: ['search', 'read_file'],
      hard: 1,
    });
    expect(await replayOne({ target: saying('search') }, task, NO_DOCUMENTS)).toMatchObject({
      toolsCalled: [],
      hard: 0,
    });
  });

  it("keeps a task's own system prompt word for word, before the documents", async () => {
    const target = saying('alpha beta');
    const system = 'Answer in  <answer> tags.\n\n\nNothing else.';
    const documents = { skill: '# Rig\n\n- Units in brackets.\n', memory: 'Mira checks it.\n' };
    await replayOne({ target }, { ...twoChecks, system, contextExcerpt: 'the log' }, documents);
    const [content, user] = target.requests[0]!.messages.map((message) => message.content);
    expect(content).toBe(`${system}\n\n# Skill\n\n# Rig\n\n- Units in brackets.\n\n# Memory\n\nMira checks it.`);
    expect(user).toContain(twoChecks.intent);
    expect(user).toContain('the log');
  });

  it('39: reports the tokens of the attempt once', async () => {
    const usage = { input: 100, cached: 40, output: 20, reasoning: 5 };
    const target = scripted('target', () => ({ text: 'forty two', usage }));
    expect((await replayOne({ target }, exact, NO_DOCUMENTS)).tokens).toBe(120);
  });

  it('3: attempts with different indexes are different draws, of the judge too', async () => {
    const [target, judge] = [saying('short'), judging(1)];
    for (const sampleIndex of [0, 1]) await replayOne({ target, judge }, rubric, NO_DOCUMENTS, { sampleIndex });
    const draws = [...target.requests, ...judge.requests].map((request) => request.sampleIndex);
    expect(draws.slice(0, 2)).toEqual([0, 1000]);
    expect(new Set(draws.slice(2)).size).toBe(4);
  });
});

describe('replayBatch', () => {
  it('39: keeps the order of the tasks with any number of workers', async () => {
    const tasks = Array.from({ length: 9 }, (_, at) => sleepTask(`t${at}`, { referenceKind: 'exact', reference: 'x' }));
    const target = scripted('target', async ({ messages }) => {
      const at = Number(/t(\d)a/.exec(messages[1]!.content)![1]);
      for (let turn = 0; turn < 9 - at; turn++) await Promise.resolve();
      return `x${at}`;
    });
    for (const workers of [0, 1, 4]) {
      const results = await replayBatch({ target }, tasks, NO_DOCUMENTS, { workers });
      expect(results.map(({ id, response }) => `${id} ${response}`)).toEqual(tasks.map(({ id }, at) => `${id} x${at}`));
    }
  });
});

describe('aggregateScores', () => {
  it('2: leaves out what has no score', () => {
    const [right, wrong, lost] = [
      { hard: 1, soft: 1, errored: false },
      { hard: 0, soft: 0.5, errored: false },
      { hard: 0, soft: 0, errored: true },
    ];
    expect(aggregateScores([right, wrong, lost])).toEqual({ hard: 0.5, soft: 0.75, scored: 2 });
    expect(aggregateScores([lost])).toEqual({ hard: 0, soft: 0, scored: 0 });
    expect(aggregateScores([])).toEqual({ hard: 0, soft: 0, scored: 0 });
  });
});

describe('isReplayable', () => {
  it.each([
    ['a bare prompt whose session used no tools', { tags: [] }, true],
    ['a bare prompt whose session searched', { tags: ['tools:WebSearch'] }, true],
    ['a bare prompt whose session ran commands', { tags: ['tools:Read+Bash'] }, false],
    ['a bare prompt whose session edited files', { tags: ['tools:apply_patch'] }, false],
    [
      'a task with a rubric, whatever its session used',
      { tags: ['tools:Bash'], referenceKind: 'rubric' as const },
      true,
    ],
    ['a task that says it needs files', { tags: ['needs:files'], referenceKind: 'rubric' as const }, false],
  ])('%s', (_, fields, wanted) => {
    expect(isReplayable(sleepTask('a', fields))).toBe(wanted);
  });
});
