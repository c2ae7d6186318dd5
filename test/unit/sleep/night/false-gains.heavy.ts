import { describe, expect, it } from 'vitest';
import { type ChatRequest, ModelCallError } from '../../../../src/core/contracts/index.ts';
import { scripted } from '../../../../src/models/index.ts';
import { type SimulatedPersonOptions, simulatedPerson } from '../../../../src/public/sim.ts';
import { consolidate, type TaskRecord } from '../../../../src/sleep/index.ts';
import { sleepTask } from '../../../support/sleep/sleep-tasks.ts';

const rule = { patch: { reasoning: '', edits: [{ op: 'append', content: '- Say beta.', support_count: 1 }] } };
const optimizer = () => scripted('optimizer', ({ stage }) => (stage === 'analyst' ? JSON.stringify(rule) : 'no'));
const isTold = ({ messages }: ChatRequest) => messages[0]!.content.includes('Say beta.');
const asks = ({ messages }: ChatRequest, id: string) => messages[1]!.content.includes(id);

/** Tasks to learn from and held-out ones, all scored alike. */
const tasksOf = (train: number, val: number, fields: Partial<TaskRecord>): TaskRecord[] => [
  ...Array.from({ length: train }, (_, at) => sleepTask(`train${at}`, { split: 'train', ...fields })),
  ...Array.from({ length: val }, (_, at) => sleepTask(`val${at}`, { split: 'val', ...fields })),
];
const exact = { referenceKind: 'exact', reference: 'alpha' } as const;
const rubric = { referenceKind: 'rubric', reference: 'It is good.' } as const;
const NO_TEXT = { skill: '', memory: '' };
const skillOnly = { evolveMemory: false } as const;

describe('a night in which nothing got better', () => {
  it('2: an empty reply before the change is no improvement after it', async () => {
    const target = scripted('target', (request) => {
      if (asks(request, 'train')) return 'wrong';
      return asks(request, 'val0') && !isTold(request) ? '' : 'alpha';
    });
    const night = await consolidate({ target, optimizer: optimizer() }, tasksOf(4, 8, exact), NO_TEXT, skillOnly);
    expect(night).toMatchObject({ accepted: false, baselineScore: 1, newSkill: '' });
  });

  it('2: nor is a judge that cannot be reached', async () => {
    const target = scripted('target', (request) =>
      isTold(request) ? 'beta' : asks(request, 'val0') ? 'lost' : 'alpha',
    );
    const judge = scripted('judge', (request) => {
      if (asks(request, 'lost')) throw new ModelCallError('no judge', { status: 400 });
      return JSON.stringify({ score: asks(request, 'train') ? 0.2 : 1, reason: '' });
    });
    const tasks = tasksOf(4, 8, rubric);
    const night = await consolidate({ target, judge, optimizer: optimizer() }, tasks, NO_TEXT, skillOnly);
    expect(night).toMatchObject({ accepted: false, baselineScore: 1 });
  });

  it('3: what the search took by luck is rejected by attempts that it was not chosen by', async () => {
    // Every other attempt succeeds; told so, all of the search's do, and later ones of a single task.
    const target = scripted('target', (request) => {
      const pass = Math.floor((request.sampleIndex ?? 0) / 1000);
      if (asks(request, 'train')) return 'wrong';
      if (isTold(request) && (pass < 1000 || asks(request, 'val0'))) return 'alpha';
      const at = Number(/val(\d+)/.exec(request.messages[1]!.content)![1]);
      return (at + pass) % 2 === 0 ? 'alpha' : 'wrong';
    });
    const tasks = tasksOf(4, 16, exact);
    const night = await consolidate(
      { target, optimizer: optimizer() },
      tasks,
      { ...NO_TEXT, skill: '# S\n' },
      skillOnly,
    );
    expect(night.documents[0]!.state.history).toMatchObject([{ action: 'accept_new_best' }]);
    expect(night.gateTrials[0]!.pValue).toBeGreaterThan(0.05);
    expect(night).toMatchObject({
      accepted: false,
      gateAction: 'reject',
      newSkill: '# S\n',
      appliedEdits: [],
      rejectedEdits: [{ content: '- Say beta.' }],
    });
  });
});

describe('the number that is shown', () => {
  /** Told so, attempts succeed until the gain is measured for the report; without it, every other one. */
  const flattered = (request: ChatRequest) => {
    const pass = Math.floor((request.sampleIndex ?? 0) / 1000);
    if (asks(request, 'train')) return 'wrong';
    if (isTold(request) && pass < 3_000_000) return 'alpha';
    const at = Number(/val(\d+)/.exec(request.messages[1]!.content)![1]);
    return (at + pass) % 2 === 0 ? 'alpha' : 'wrong';
  };

  it('proves what is proposed: a gain that new attempts do not show is not proposed', async () => {
    const target = scripted('target', flattered);
    const night = await consolidate({ target, optimizer: optimizer() }, tasksOf(4, 16, exact), NO_TEXT, skillOnly);
    const { proof } = night.documents[0]!;
    expect(proof!.pValue).toBeLessThan(0.001);
    expect([night.accepted, proof!.isProven, proof!.isUnconfirmed]).toEqual([false, false, true]);
  });

  it('has a lower end above zero where something is proposed', async () => {
    const target = scripted('target', (request) => (isTold(request) ? 'alpha' : flattered(request)));
    const night = await consolidate({ target, optimizer: optimizer() }, tasksOf(4, 16, exact), NO_TEXT, skillOnly);
    const { value, interval } = night.documents[0]!.proof!.gain;
    expect(night.accepted).toBe(true);
    expect([interval.low > 0, interval.low <= value, value <= interval.high]).toEqual([true, true, true]);
  });

  it('is that of the document that is proposed, not of a rejected one beside it', async () => {
    const inMemory = ({ messages }: ChatRequest) => /# M(?:(?!# S)[\s\S])*Say beta\./.test(messages[0]!.content);
    const target = scripted('target', (request) => {
      if (asks(request, 'train')) return 'wrong';
      if (inMemory(request)) return 'alpha';
      return isTold(request) ? 'wrong' : flattered(request);
    });
    const documents = { skill: '# S\n', memory: '# M\n' };
    const night = await consolidate({ target, optimizer: optimizer() }, tasksOf(4, 16, exact), documents);
    const [skill, memory] = night.gateTrials;
    expect([skill!.accepted, memory!.accepted]).toEqual([false, true]);
    expect(night).toMatchObject({ baselineScore: memory!.baselineScore, candidateScore: memory!.candidateScore });
  });
});

/** A night over ten days of a person: what was learned, and what it is worth. */
async function personNight(options: SimulatedPersonOptions) {
  const person = simulatedPerson(options);
  const days = Array.from({ length: 10 }, (_, day) => person.tasksOf(day + 1)).flat();
  const distinct = [...new Map(days.map((task) => [task.id, task])).values()].slice(0, 30);
  const tasks = distinct.map((task, at): TaskRecord => ({ ...task, split: at % 2 === 0 ? 'train' : 'val' }));
  const night = await consolidate(person, tasks, NO_TEXT, {
    ...skillOnly,
    config: { seed: options.seed ?? 7, workers: 16 },
  });
  const gain = person.trueScore(night.newSkill, night.newMemory) - person.trueScore('', '');
  return { night, gain };
}

describe('a night of a simulated person', () => {
  it('1: useless edits under a noisy judge are hardly ever taken', async () => {
    const nights = [];
    for (const seed of [1, 2, 3, 4]) nights.push(await personNight({ seed, usefulness: 'nothing-helps' }));
    expect(nights.filter(({ night }) => night.accepted).length).toBeLessThanOrEqual(1);
    expect(nights.flatMap(({ night }) => night.gateTrials).length).toBe(4);
  });

  it('what helps is found, and does so beyond the tasks of the night', async () => {
    const nights = [];
    for (const seed of [1, 2, 3]) nights.push(await personNight({ seed, precision: 0.9 }));
    const taken = nights.filter(({ night }) => night.accepted);
    expect(taken.length).toBeGreaterThanOrEqual(2);
    for (const { gain } of taken) expect(gain).toBeGreaterThan(0.02);
  });
});
