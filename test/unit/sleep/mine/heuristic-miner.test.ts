import { describe, expect, it } from 'vitest';
import { heuristicTask, TaskRecord } from '../../../../src/sleep/index.ts';
import {
  heuristicTaskId,
  minedTaskId,
  outcomeOf,
  short,
  withoutQuotes,
} from '../../../../src/sleep/mine/heuristic-miner.ts';
import { session } from '../../../support/sleep/sleep-tasks.ts';

describe('texts of tasks', () => {
  it('fact 34: ids are hashes of project and intent', () => {
    expect(heuristicTaskId('/p', 'fix it')).toBe('task_6aa51742a7f1');
    expect(minedTaskId('/p', 'gather context')).toBe('llm_08edd39100c1');
  });

  it('fact 35: a text is cut by code points, with a mark', () => {
    expect(short('abcdef', 3)).toBe('abc …');
    expect(short('abc', 3)).toBe('abc');
    expect(short('🙂🙂🙂🙂', 3)).toBe('🙂🙂🙂 …');
    expect(short('🙂🙂🙂', 3)).toBe('🙂🙂🙂');
  });

  it('leaves out what is quoted, also when a fence is not closed', () => {
    expect(withoutQuotes('Look:\n```sh\nrm -rf /\n```\nWhy?')).toBe('Look:\n(quoted text left out)\nWhy?');
    expect(withoutQuotes('He wrote\n> always say yes\n> to all\nIs he right?')).toBe(
      'He wrote\n(quoted text left out)\nIs he right?',
    );
    expect(withoutQuotes('Look:\n~~~\nalways say yes')).toBe('Look:\n(quoted text left out)');
  });
});

describe('the miner without a model', () => {
  it('makes the first request the task; the next three are for whoever measures it', () => {
    const userPrompts = ['  Add a login form  ', 'with a button', 'blue', 'large', 'never seen'];
    const facts = { toolsUsed: ['Bash', 'Edit', 'Read', 'Grep', 'Write'], gitBranch: 'main', skillsUsed: ['forms'] };
    const task = heuristicTask(session('s1', { userPrompts, assistantFinals: ['first', 'last'], ...facts }));
    expect(task).toMatchObject({
      id: heuristicTaskId('/p', 'Add a login form'),
      intent: 'Add a login form',
      contextExcerpt: '',
      reference: '- with a button\n- blue\n- large',
      attemptedSolution: 'last',
      tags: ['tools:Bash+Edit+Read+Grep', 'branch:main'],
      referenceKind: 'none',
      sourceSessions: ['s1'],
      skillHint: 'forms',
    });
  });

  it('keeps 800 of a request, 200 of a follow-up and 600 of all follow-ups', () => {
    const long = 'x'.repeat(1_000);
    const task = heuristicTask(session('s', { userPrompts: [long, long, long, long], assistantFinals: [long] }))!;
    expect(task.intent).toBe(`${'x'.repeat(800)} …`);
    expect(task.reference.split('\n')[0]).toBe(`- ${'x'.repeat(200)} …`);
    expect(task.reference).toHaveLength(602);
    expect(task.attemptedSolution).toBe(`${'x'.repeat(600)} …`);
  });

  it('a task of before, whose follow-ups were its context, is read as one of today', () => {
    const { reference, ...task } = heuristicTask(session('s', { userPrompts: ['Add a login form', 'blue'] }))!;
    expect(TaskRecord.parse({ ...task, contextExcerpt: reference })).toEqual({ ...task, reference });
    const { contextExcerpt } = TaskRecord.parse({
      id: 'mine',
      project: '/p',
      intent: 'Why?',
      contextExcerpt: '- a log',
    });
    expect(contextExcerpt).toBe('- a log');
  });

  it('fact 39: a first request below eight code points is no task', () => {
    expect(heuristicTask(session('s', { userPrompts: [' fix it ', 'and then the rest of it'] }))).toBeUndefined();
    expect(heuristicTask(session('s', { userPrompts: ['🙂🙂🙂🙂🙂🙂🙂'] }))).toBeUndefined();
    expect(heuristicTask(session('s', { userPrompts: ['🙂🙂🙂🙂🙂🙂🙂🙂'] }))).toBeDefined();
  });
});

describe('outcomes', () => {
  const outcome = (feedbackSignals: string[], ...userPrompts: string[]) =>
    outcomeOf(session('s', { userPrompts: userPrompts.length > 0 ? userPrompts : ['a', 'b'], feedbackSignals }));

  it('fact 39: praise is success, blame is failure, three turns are mixed, two are unknown', () => {
    expect(outcome(['pos:great'])).toBe('success');
    expect(outcome(['neg:wrong'])).toBe('fail');
    expect(outcome([], 'a', 'b', 'c')).toBe('mixed');
    expect(outcome([], 'a', 'b')).toBe('unknown');
  });

  it('fact 39, differs: of praise and blame the last one counts', () => {
    expect(outcome(['pos:great', 'neg:wrong'])).toBe('fail');
    expect(outcome(['neg:wrong', 'pos:great'])).toBe('success');
  });

  it('17: the first request is no feedback, the same words later are', () => {
    expect(outcome(['neg:still broken'], 'The build is STILL BROKEN, fix it')).toBe('unknown');
    expect(outcome(['neg:still broken'], 'The build is still broken', 'it is still broken')).toBe('fail');
    expect(outcome(['neg:cursor_turn_error'], 'Add a form')).toBe('fail');
  });
});
