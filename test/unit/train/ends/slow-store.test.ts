import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import {
  memoryRun,
  type OpenRunStore,
  type RunCaches,
  type RunEvent,
  type RunFact,
  type RunObserver,
  type RunStore,
  runDirectory,
  SkillError,
  type SkillOptConfigInput,
  SkillOptTrainer,
  type TextCache,
  toFact,
} from 'skillopt';
import { describe, expect, it } from 'vitest';
import { levelsEnv, levelsOptimizer, levelsTarget } from '../../../support/levels.ts';
import { STRICT } from '../../../support/strict-gate.ts';
import { temporaryDirectory } from '../../stores/run-directory.fixture.ts';

const config: SkillOptConfigInput = { ...STRICT, numEpochs: 2, batchSize: 4, minibatchSize: 2, maxRetries: 0 };

const turn = () => new Promise<void>((resolve) => setImmediate(() => resolve()));
const turns = async (count: number) => {
  for (let index = 0; index < count; index++) await turn();
};

type Options = {
  readonly observers?: readonly RunObserver[];
  readonly signal?: AbortSignal;
  readonly onCall?: () => void;
};

/** Calls take some turns of the event loop, so that writes can fall behind and catch up. */
function train(store: RunStore, { onCall = () => {}, ...options }: Options = {}) {
  const [target, optimizer] = [levelsTarget(), levelsOptimizer()].map((model) => ({
    ...model,
    async complete(request: Parameters<typeof model.complete>[0]) {
      onCall();
      await turns(3);
      return model.complete(request);
    },
  }));
  return new SkillOptTrainer({
    env: levelsEnv(),
    target: target!,
    optimizer: optimizer!,
    store,
    config,
    ...options,
  }).train();
}

type Kept = { readonly events: RunEvent[]; readonly views: string[]; readonly texts: Map<string, string> };
type Work = { readonly type: 'append' | 'views'; readonly event?: RunEvent };

/** A run in memory that is as slow as the test wants, and that can begin with what another one had kept. */
function slowStore(wait: (work: Work) => Promise<void>, before: Partial<Kept> = {}) {
  const kept: Kept = {
    events: [...(before.events ?? [])],
    views: [...(before.views ?? [])],
    texts: new Map(before.texts),
  };
  const cache = (name: string): TextCache => ({
    get: async (key) => kept.texts.get(name + key),
    set: async (key, value) => void kept.texts.set(name + key, value),
  });
  const caches: RunCaches = { replies: cache('reply '), rollouts: cache('rollout ') };
  const opened: OpenRunStore = {
    caches,
    async append(event) {
      await wait({ type: 'append', event });
      kept.events.push(JSON.parse(JSON.stringify(event)));
    },
    async writeViews(views) {
      await wait({ type: 'views' });
      kept.views.push(...Object.keys(views));
    },
    async [Symbol.asyncDispose]() {},
  };
  const store: RunStore = { name: 'memory', read: async () => kept.events, open: async () => opened };
  const copy = (): Kept => ({ events: [...kept.events], views: [...kept.views], texts: new Map(kept.texts) });
  return { store, kept, copy };
}

async function undisturbed(): Promise<RunFact[]> {
  const store = memoryRun();
  await train(store);
  return store.events.map(toFact);
}

/** How many calls a run makes before it knows of an event. */
async function callsUntil(name: string): Promise<number> {
  let [calls, until] = [0, -1];
  const onEvent = (event: RunEvent) => {
    if (nameOf(event) === name) until = calls;
  };
  await train(memoryRun(), { onCall: () => void calls++, observers: [{ onEvent }] });
  return until;
}

const stepFolder = (step: number) => `steps/step_${String(step).padStart(4, '0')}`;
const nameOf = (event: RunFact) => ('step' in event ? `${event.type} ${event.step}` : event.type);

describe('a run whose store is slow', () => {
  it('continues with its calls while events are written, and ends the same', async () => {
    let writing = 0;
    let overlapping = 0;
    const { store, kept } = slowStore(async () => {
      writing++;
      await turns(20);
      writing--;
    });
    const onCall = () => {
      if (writing > 0) overlapping++;
    };
    await train(store, { onCall });
    expect(overlapping).toBeGreaterThan(0);
    expect(kept.events.map(toFact)).toEqual(await undisturbed());
  });

  it('tells observers of an event only when it is safe, and of everything in order', async () => {
    const { store, kept } = slowStore(() => turns(7));
    const told: string[] = [];
    const unsafe: string[] = [];
    const observer: RunObserver = {
      onEvent(event, state) {
        told.push(nameOf(event));
        if (!kept.events.some((safe) => nameOf(safe) === nameOf(event))) unsafe.push(nameOf(event));
        if (event.type === 'step-end') expect(state.stepsDone).toBe(event.step);
      },
      onProgress: ({ phase, step }) => told.push(`${phase} of step ${step}`),
    };
    await train(store, { observers: [observer] });
    expect(unsafe).toEqual([]);
    expect(told.filter((name) => !name.includes(' of step '))).toEqual(kept.events.map(nameOf));
    const [start, end] = [told.indexOf('step-start 2'), told.indexOf('step-end 2')];
    const progress = told.flatMap((name, index) => (name.endsWith(' of step 2') ? [index] : []));
    expect(progress.length).toBeGreaterThan(0);
    expect(progress.filter((index) => index < start || index > end)).toEqual([]);
  });

  it('has everything written and told when it ends, also when it is stopped', async () => {
    const { store, kept } = slowStore(() => turns(30));
    const controller = new AbortController();
    const told: string[] = [];
    const stopper: RunObserver = {
      onEvent(event) {
        told.push(nameOf(event));
        if (nameOf(event) === 'step-start 3') controller.abort(new Error('enough'));
      },
    };
    await expect(train(store, { observers: [stopper], signal: controller.signal })).rejects.toThrow('enough');
    const count = kept.events.length;
    await turns(200);
    expect(kept.events).toHaveLength(count);
    expect(told).toEqual(kept.events.map(nameOf));
  });

  it('is never more than a step ahead of it', async () => {
    let release = () => {};
    const isReleased = new Promise<void>((resolve) => {
      release = resolve;
    });
    let isHeld = false;
    const { store, kept } = slowStore(async ({ event }) => {
      if (event === undefined || nameOf(event) !== 'step-end 2') return;
      isHeld = true;
      await isReleased;
    });
    let calls = 0;
    const ending = train(store, { onCall: () => void calls++ });
    let seen = -1;
    while (!isHeld || seen !== calls) {
      seen = calls;
      await turns(50);
    }
    const whenHeld = calls;
    expect(whenHeld).toBe(await callsUntil('step-end 3'));
    expect(kept.events.at(-1)).toMatchObject({ type: 'stage-end', step: 2 });
    await turns(500);
    expect(calls, 'nothing is paid for while the disk hangs').toBe(whenHeld);
    release();
    await ending;
    expect(calls).toBeGreaterThan(whenHeld);
    expect(kept.events.map(toFact)).toEqual(await undisturbed());
  });

  it.each(['append', 'views'] as const)(
    'stops when it fails (%s), writes nothing more, and resumes later',
    async (type) => {
      let works = 0;
      const full = new SkillError('RUN_UNWRITABLE', 'the disk is full');
      const broken = slowStore(async (work) => {
        await turn();
        if (work.type !== type || ++works <= 14) return;
        void turn().then(() => {
          hasFailed = true;
        });
        throw full;
      });
      let [calls, late, hasFailed] = [0, 0, false];
      const onCall = () => {
        calls++;
        if (hasFailed) late++;
      };
      await expect(train(broken.store, { onCall })).rejects.toBe(full);
      expect(late, 'nothing is asked after the failure').toBe(0);
      const facts = await undisturbed();
      expect(broken.kept.events.map(toFact)).toEqual(facts.slice(0, broken.kept.events.length));
      expect(broken.kept.events.length).toBeLessThan(facts.length);

      const mended = slowStore(async () => {}, broken.kept);
      await train(mended.store, { onCall: () => void calls++ });
      expect(mended.kept.events.map(toFact)).toEqual(facts);
      let needed = 0;
      await train(memoryRun(), { onCall: () => void needed++ });
      expect(calls, 'nothing is paid for twice').toBe(needed);
    },
  );
});

describe('a run that is cut off while its store is behind', () => {
  /** What was on disk before each write and after it. */
  async function cuts(): Promise<Kept[]> {
    const taken: Kept[] = [];
    const { store, copy } = slowStore(async () => {
      await turns(4);
      taken.push(copy());
    });
    await train(store);
    return taken;
  }

  it('ends the same wherever it is cut off, without a call for what was kept', async () => {
    const facts = await undisturbed();
    for (const cut of (await cuts()).filter((_, index) => index % 13 === 0)) {
      const { store, kept } = slowStore(async () => {}, cut);
      let calls = 0;
      await train(store, { onCall: () => void calls++ });
      const where = `after ${cut.events.length} events`;
      expect(kept.events.map(toFact), where).toEqual(facts);
      const replies = [...kept.texts.keys()].filter((key) => key.startsWith('reply ')).length;
      const before = [...cut.texts.keys()].filter((key) => key.startsWith('reply ')).length;
      expect(calls, where).toBe(replies - before);
    }
  });

  it('has the files about a step before the event that settles it', async () => {
    for (const { events, views } of await cuts()) {
      for (const event of events) {
        if (event.type !== 'step-end') continue;
        expect(views).toContain(`${stepFolder(event.step)}/rollout_results.json`);
        expect(views).toContain(`${stepFolder(event.step)}/candidate_skill.md`);
      }
    }
  });
});

it('a run in a folder tells of an event when its line and its files are on disk', async () => {
  await using folder = await temporaryDirectory();
  const unsafe: string[] = [];
  let told = 0;
  const onEvent = (event: RunEvent) => {
    told++;
    const journal = readFileSync(join(folder.path, 'events.jsonl'), 'utf8');
    const results = event.type === 'step-end' ? `${stepFolder(event.step)}/rollout_results.json` : 'config.json';
    const { type, at, ms, usage } = JSON.parse(journal.trimEnd().split('\n').at(-1)!);
    const isLast = isDeepStrictEqual([type, at, ms, usage], [event.type, event.at, event.ms, event.usage]);
    const isSafe = isLast && journal.endsWith('\n') && existsSync(join(folder.path, results));
    if (!isSafe) unsafe.push(nameOf(event));
  };
  await train(runDirectory(folder.path), { observers: [{ onEvent }] });
  expect(told).toBeGreaterThan(10);
  expect(unsafe).toEqual([]);
});
