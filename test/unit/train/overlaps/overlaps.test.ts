import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type ChatModel,
  ModelCallError,
  memoryRun,
  type Progress,
  runDirectory,
  type SkillOptConfigInput,
} from 'skillopt';
import { simulatedTarget } from 'skillopt/sim';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../stores/run-directory.fixture.ts';
import { beganBeside, play, uneven } from './slow-world.ts';

/** A limit that no run reaches: it still keeps everything in its turn. */
const FAR = { maxCalls: 1_000_000 };
const PAPER = { preset: 'paper', accumulation: 2, batchSize: 4 } as const;

const inFolder = async <Answer>(work: (store: ReturnType<typeof runDirectory>, path: string) => Promise<Answer>) => {
  await using folder = await temporaryDirectory();
  return await work(runDirectory(join(folder.path, 'run')), folder.path);
};

describe('a run whose calls overlap', () => {
  it.each([
    ['default', {}],
    ['default, one worker', { workers: 1 }],
    ['default, many workers', { workers: 64 }],
    ['paper', PAPER],
    ['limited rollouts', { maxRollouts: 120 }],
  ] satisfies [string, SkillOptConfigInput][])(
    'has the facts of one that does one thing after the other: %s',
    async (_, config) => {
      const inTurn = await inFolder((store) => play({ store, config: { ...config, ...FAR, workers: 1 } }));
      const slow = await inFolder((store) => play({ store, config, turns: uneven }));
      expect(inTurn.facts.at(-1)).toMatchObject({ type: 'run-end' });
      expect(slow.facts.slice(1)).toEqual(inTurn.facts.slice(1));
      expect(slow.calls, 'and makes no more calls').toBe(inTurn.calls);
    },
  );

  it('begins the first batch beside the baseline, a merge beside analysts, and the test beside the final passes', async () => {
    const { seen } = await inFolder((store) => play({ store, turns: faultsLast, config: { workers: 16 } }));
    expect(beganBeside(seen, 'train', 'val')).toBe(true);
    expect(beganBeside(seen, 'merge_success', 'analyst failed')).toBe(true);
    expect(beganBeside(seen, 'test', 'val')).toBe(true);
  });

  it.each([FAR, { maxCostUsd: 1000 }, { maxTotalTokens: 1e9 }, { maxMinutes: 60 }])(
    'does one thing after the other under a limit: %j',
    async (limit) => {
      const prices = { 'sim-target': { input: 1, output: 1 } };
      const { seen, error } = await inFolder((store) => play({ store, turns: uneven, config: { ...limit, prices } }));
      expect(error).toBeUndefined();
      expect(beganBeside(seen, 'train', 'val')).toBe(false);
      expect(beganBeside(seen, 'merge', 'analyst')).toBe(false);
      expect(beganBeside(seen, 'test', 'val')).toBe(false);
    },
  );

  it('tells of each phase in its turn, and never goes back', async () => {
    const { progress, facts } = await play({ turns: uneven, config: { workers: 16 } });
    const phases = progress.filter((one, place) => !isSamePhase(one, progress[place - 1]));
    expect(new Set(phases.map(keyOf)).size, 'no phase comes twice').toBe(phases.length);
    for (const [place, { done }] of progress.entries()) {
      if (isSamePhase(progress[place]!, progress[place - 1])) expect(done).toBe(progress[place - 1]!.done + 1);
      else expect(done).toBe(1);
    }
    expect(phases.slice(0, 3).map(({ phase }) => phase)).toEqual(['baseline', 'rollout', 'reflect']);
    expect(facts.at(-1)).toMatchObject({ type: 'run-end' });
  });
});

/** Analysts of failures take longer than anything else. */
const faultsLast: typeof uneven = (request) => (/\d+ failed/.test(request.messages[1]!.content) ? 60 : uneven(request));

const keyOf = ({ phase, step }: Progress) => `${phase} ${step}`;
const isSamePhase = (one: Progress, other: Progress | undefined) => other !== undefined && keyOf(one) === keyOf(other);

describe('a skill that passes every validation task', () => {
  it('pays for no batch', async () => {
    const { seen, facts } = await play({ turns: uneven, config: { workers: 64 }, isPerfect: true });
    expect(facts.map(({ type }) => type)).toEqual([
      'run-start',
      'baseline-end',
      'search-end',
      'final-selection-end',
      'run-end',
    ]);
    expect(seen.filter(({ what }) => !what.startsWith('val'))).toEqual([]);
  });
});

describe('an outage in a batch that began early', () => {
  const isTrain = (id: string) => id.startsWith('train');

  it('ends the run when its turn has come, and the next start finishes it', async () => {
    const whole = await play({ turns: uneven });
    const store = memoryRun();
    const down = (id: string) => {
      if (isTrain(id)) throw new ModelCallError('no route to the model', { isRetryable: false });
    };
    const config = { maxConsecutiveFailures: 1000 };
    const broken = await play({ store, turns: uneven, onTask: down, config });
    expect(broken.error).toMatchObject({ code: 'MODEL_CALL_FAILED', message: expect.stringContaining('8 of 8 tasks') });
    expect(broken.facts.map(({ type }) => type)).toEqual(['run-start', 'baseline-end', 'step-start']);
    const { facts, error } = await play({ store, turns: uneven });
    expect(error).toBeUndefined();
    expect(facts.slice(1)).toEqual(whole.facts.slice(1));
  });
});

describe('Ctrl-C', () => {
  it.each(['train', 'merge_success', 'test'])(
    'while %s overlaps with what comes before loses nothing',
    async (what) => {
      const turns: NonNullable<Parameters<typeof play>[0]['turns']> = (request, name) =>
        name.startsWith(what) ? 200 : faultsLast(request);
      const whole = await inFolder((store) => play({ store, turns }));
      await inFolder(async (store) => {
        const stop = new AbortController();
        const stopped = await play({
          store,
          turns,
          options: { signal: stop.signal },
          onStart: (began) => began.startsWith(what) && stop.abort(new Error('Ctrl-C')),
        });
        expect(stopped.error).toMatchObject({ message: 'Ctrl-C' });
        const ended = stopped.seen.filter(({ at }) => at === 'end').length;
        expect(ended, 'every call was answered').toBe(stopped.calls);
        const resumed = await play({ store, turns });
        expect(resumed.facts.slice(1)).toEqual(whole.facts.slice(1));
        expect(stopped.calls + resumed.calls, 'nothing is asked twice').toBe(whole.calls);
      });
    },
  );
});

describe('a test that begins early', () => {
  it('comes after the search, and after its look was counted', async () => {
    await inFolder(async (store, folder) => {
      const atFirst: { looks: string; facts: string[] }[] = [];
      const onTask = async (id: string) => {
        if (!id.startsWith('test') || atFirst.length > 0) return;
        const looks = await readFile(join(folder, 'test_looks.jsonl'), 'utf8');
        atFirst.push({ looks, facts: (await store.read()).map(({ type }) => type) });
      };
      const { facts } = await play({ store, turns: uneven, onTask });
      const [{ looks, facts: before }] = atFirst as [(typeof atFirst)[0]];
      expect(looks.trim().split('\n')).toHaveLength(1);
      expect(before).toContain('final-selection-end');
      expect(before).not.toContain('final-measurement-end');
      const types = facts.map(({ type }) => type);
      expect(types.slice(types.indexOf('final-selection-end'))).toEqual([
        ...['final-selection-end', 'final-measurement-end', 'test-look', 'test-end', 'test-end', 'test-end', 'run-end'],
      ]);
      expect((await readFile(join(folder, 'test_looks.jsonl'), 'utf8')).trim()).toBe(looks.trim());
    });
  });

  it.each([false, true])(
    'is one look, wherever the run was cut off; the final passes find the seed better: %s',
    async (isSeedBetter) => {
      await inFolder(async (store, folder) => {
        const options = isSeedBetter ? { target: failingAfresh() } : {};
        const whole = await play({ store, turns: uneven, options });
        expect(whole.facts.find(({ type }) => type === 'final-measurement-end')).toMatchObject({ isSeedBetter });
        const journal = join(folder, 'run', 'events.jsonl');
        const lines = (await readFile(journal, 'utf8')).split('\n').slice(0, -1);
        const types = whole.facts.map(({ type }) => type);
        for (const last of ['final-selection-end', 'final-measurement-end', 'test-look'] as const) {
          await writeFile(journal, `${lines.slice(0, types.indexOf(last) + 1).join('\n')}\n`);
          const { facts } = await play({ store, turns: uneven, options });
          expect(facts, `cut after ${last}`).toEqual(whole.facts);
        }
        expect((await readFile(join(folder, 'test_looks.jsonl'), 'utf8')).trim().split('\n')).toHaveLength(1);
      });
    },
  );
});

/** A target that has luck in the search alone: draws of the final measurement come to nothing. */
function failingAfresh(): ChatModel {
  const model = simulatedTarget({ noise: 0.2, seed: 3 });
  return {
    ...model,
    async complete(request) {
      const reply = await model.complete(request);
      return (request.sampleIndex ?? 0) >= 1_000_000_000 ? { ...reply, text: 'I could not say.' } : reply;
    },
  };
}
