import { expect, it } from 'vitest';
import { noView, projectRun, runFigures } from '../../../src/core/page/index.ts';
import { curveData } from '../../../src/web/parts/curve-data.ts';
import { meaningOf } from '../../../src/web/parts/mark.tsx';
import {
  asSentence,
  comparedWords,
  editLine,
  priceOf,
  scoreChange,
  seconds,
  versionName,
} from '../../../src/web/parts/words.ts';
import { turnsOf } from '../../../src/web/screens/attempt.tsx';
import { sampleRun } from '../../support/sample-run.ts';

it('draws the first skill at 0, and candidates by their fate', () => {
  const figures = runFigures(sampleRun.reduce(projectRun, noView));
  const { x, best, taken, refused, undecided } = curveData(figures, 'step');
  expect(x).toEqual([0, 1, 2, 3]);
  expect(best).toEqual([25, 75, 75, 75]);
  expect(taken).toEqual([null, 75, null, null]);
  expect(refused).toEqual([null, null, 37.5, null]);
  expect(undecided).toEqual([null, null, null, null]);
  expect(curveData(figures, 'calls').x.at(-1)).toBe(figures.curve.at(-1)!.calls);
});

it('has what speaks for each added line', () => {
  const { lines } = runFigures(sampleRun.reduce(projectRun, noView));
  expect(lines).toMatchObject([{ line: '- Write dates as YYYY-MM-DD.', standing: 'plausible', gain: 0.5, step: 1 }]);
  for (const { standing } of lines) expect(meaningOf(standing).word).toBe(standing);
});

it('tells an attempt turn by turn, a talk and an agent alike', () => {
  const scores = { id: 'a', hard: 0, soft: 0 };
  const talk = {
    ...scores,
    conversation: [{ role: 'user', content: 'Hi' }, { role: 'tool', content: { ok: 1 } }, null],
  };
  expect(turnsOf(talk)).toEqual([
    { who: 'user', text: 'Hi' },
    { who: 'tool', text: '{"ok":1}' },
    { who: '', text: '' },
  ]);
  const call = { tool_call_id: '1', function_name: 'bash', arguments: { command: 'ls' } };
  const steps = [
    { step_id: 1, source: 'user', message: 'do it' },
    {
      ...{ step_id: 2, source: 'agent', message: 'I look.', tool_calls: [call] },
      observation: { results: [{ source_call_id: '1', content: 'no such folder' }] },
      extra: { skills_loaded: ['house-style'], failed_call_ids: ['1'] },
    },
  ];
  expect(turnsOf({ ...scores, extras: { trajectory: { steps, notes: 'cut' } } })).toEqual([
    { who: 'loads skill', text: 'house-style' },
    { who: 'says', text: 'I look.' },
    { who: 'calls bash', text: 'ls' },
    { who: 'fails', text: 'no such folder' },
    { who: 'note', text: 'cut' },
  ]);
});

it('says missing figures as words, never as 0', () => {
  expect(scoreChange(null, 0.5)).toBe('50.0 %');
  expect(scoreChange(0.25, 0.5)).toBe('25.0 → 50.0 %');
  expect(priceOf({ costUsd: 0, isPriced: false })).toBe('no price');
  expect(priceOf({ costUsd: 0.5, isPriced: false })).toBe('≥ $0.50');
  expect(priceOf({ costUsd: 0, isPriced: true })).toBe('$0.00');
});

it('names versions, edits and times in words', () => {
  expect(versionName({ kind: 'initial', step: 0 })).toBe('first skill');
  expect(versionName({ kind: 'guidance', step: 2 })).toBe('epoch 2, guidance');
  const first = { kind: 'initial', step: 0, score: 0.6 } as const;
  expect(comparedWords(first, { kind: 'candidate', step: 6, score: null })).toBe(
    'first skill 60.0 % → step 6, candidate (not measured)',
  );
  expect(editLine({ content: '- Write dates\n  as numbers.', target: '' })).toBe('Write dates as numbers.');
  expect(editLine({ content: '', target: 'gone' })).toBe('gone');
  expect([seconds(12), seconds(1_500), seconds(600_000)]).toEqual(['12 ms', '1.5 s', '10 min']);
});

it('begins a sentence with a capital letter, but leaves names, paths and commands as they are', () => {
  expect(asSentence('the journal ends early.')).toBe('The journal ends early.');
  for (const text of ['…/events.jsonl:2 is damaged', 'events.jsonl:2 is damaged', 'skillopt show says more.'])
    expect(asSentence(text)).toBe(text);
  expect(asSentence('demo has not measured its best skill', ['demo'])).toBe('demo has not measured its best skill');
  expect(asSentence('demonstrations are missing', ['demo'])).toBe('Demonstrations are missing');
});
