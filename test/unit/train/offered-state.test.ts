import {
  type ChatModel,
  emptyRun,
  memoryRun,
  type RunEvent,
  reduce,
  type SkillOptConfigInput,
  SkillOptTrainer,
} from 'skillopt';
import { scripted } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { levelsEnv, levelsOptimizer, levelsTarget } from '../../support/levels.ts';

/** A run in memory that fails when a state it is offered is not what its events fold to. */
function checkedRun(before: readonly RunEvent[]) {
  const kept = memoryRun(before);
  const offers: { readonly count: number; readonly isLast: boolean; readonly text: string }[] = [];
  const open = async () => ({
    ...(await kept.open()),
    async keepState(state: typeof emptyRun, { isLast = false } = {}) {
      expect(state).toEqual(kept.events.reduce(reduce, emptyRun));
      offers.push({ count: kept.events.length, isLast, text: JSON.stringify(state) });
    },
  });
  return { ...kept, offers, open };
}

const SMALL = { numEpochs: 2, batchSize: 3, maxRetries: 0 } as const;

type Start = {
  readonly before?: readonly RunEvent[];
  readonly config?: SkillOptConfigInput;
  readonly optimizer?: ChatModel;
  readonly signal?: AbortSignal;
};

/** Asked again, it says something else. */
const changedOptimizer = () =>
  scripted('levels-optimizer', () => JSON.stringify({ patch: { edits: [{ op: 'append', content: 'Be brief.' }] } }));

async function start({ before = [], config, ...options }: Start = {}) {
  const store = checkedRun(before);
  const trainer = { env: levelsEnv(), target: levelsTarget(), optimizer: levelsOptimizer(), store, ...options };
  const error = await new SkillOptTrainer({ ...trainer, config: { ...SMALL, ...config } })
    .train()
    .catch((reason) => reason);
  return { error, events: store.events, offers: store.offers };
}

describe('a run offers its store the state that all events so far fold to', () => {
  it('after every event that ends something, and at its end; events that follow fold on from there', async () => {
    const { events, offers } = await start();
    const ends = events.flatMap(({ type }, index) => (type === 'step-end' ? [index + 1] : []));
    expect(ends.length).toBeGreaterThan(3);
    expect(offers.map(({ count }) => count)).toEqual(expect.arrayContaining(ends));
    expect(offers.at(-1)).toMatchObject({ count: events.length, isLast: true });
    const end = events.reduce(reduce, emptyRun);
    for (const { count, text } of offers)
      expect(events.slice(count).reduce(reduce, JSON.parse(text)), `after ${count} events`).toEqual(end);
  });

  it('wherever it was cut off before, whether it takes its step again or is stopped at once', async () => {
    const whole = await start();
    for (let cut = 1; cut < whole.events.length; cut += 15) {
      const before = whole.events.slice(0, cut);
      const resumed = await start({ before });
      expect(resumed.error).not.toBeInstanceOf(Error);
      expect(resumed.offers.at(-1)).toMatchObject({ count: whole.events.length, isLast: true });
      const stopped = await start({ before, signal: AbortSignal.abort(new Error('Ctrl-C')) });
      expect(stopped.error.message, `cut after ${cut} events`).toBe('Ctrl-C');
      expect(stopped.offers.at(-1)?.isLast).toBe(true);
    }
  });

  it('when a step that was cut off takes another course', async () => {
    const { events } = await start();
    const evaluated = events.findLastIndex((event) => event.type === 'stage-end' && event.stage === 'evaluate');
    const before = events.slice(0, evaluated + 1);
    const { error, offers } = await start({ before, optimizer: changedOptimizer() });
    expect(error).not.toBeInstanceOf(Error);
    expect(offers.length).toBeGreaterThan(1);
  });

  it('when its winner was measured within a step, for want of money', async () => {
    let asides = 0;
    for (let maxCalls = 40; maxCalls < 100; maxCalls += 20) {
      const first = await start({ config: { gate: 'strict', finalPasses: 2, maxCalls } });
      expect(first.error.code).toBe('BUDGET_EXHAUSTED');
      asides += Number(
        first.events.at(-1)?.type === 'final-measurement-end' && first.events.at(-2)?.type === 'stage-end',
      );
      const second = await start({
        before: first.events,
        config: { gate: 'strict', finalPasses: 2, maxCalls: 10_000 },
      });
      expect(second.error).not.toBeInstanceOf(Error);
    }
    expect(asides).toBeGreaterThan(0);
  });
});
