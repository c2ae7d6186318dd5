import { existsSync, renameSync, rmSync } from 'node:fs';
import { cp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  ModelCallError,
  memoryRun,
  type RunObserver,
  SkillError,
  SkillOptTrainer,
  type TrainerOptions,
} from 'skillopt';
import { scripted } from 'skillopt/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readJournal } from '../../../../src/stores/run/journal.ts';
import { levelOf, levelsEnv, levelsOptimizer, levelsTarget } from '../../../support/levels.ts';
import { temporaryDirectory } from '../../stores/run-directory.fixture.ts';

const QUICK = { numEpochs: 2, batchSize: 3, workers: 1, maxRetries: 0 };

function train(outRoot: string, { config, ...options }: Partial<TrainerOptions> = {}) {
  const models = { target: levelsTarget(), optimizer: levelsOptimizer() };
  const trainer = { env: levelsEnv(), ...models, ...options } as TrainerOptions;
  return new SkillOptTrainer({ ...trainer, config: { ...QUICK, outRoot, ...config } }).train();
}

const summaryOf = async (path: string) => JSON.parse(await readFile(join(path, 'summary.json'), 'utf8'));

/** Files that a run writes when it has its first event. */
const LATER_FILES = ['summary.json', 'history.json', 'runtime_state.json'];

/** Does something when step 2 has begun. */
const inStepTwo = (work: () => void): RunObserver => ({
  onEvent: (event) => (event.type === 'step-start' && event.step === 2 ? work() : undefined),
});

describe('a run leaves its views', () => {
  it('when a limit is reached', async () => {
    await using folder = await temporaryDirectory();
    const ending = train(folder.path, { config: { maxCalls: 40, finalPasses: 0 } });
    await expect(ending).rejects.toMatchObject({ code: 'BUDGET_EXHAUSTED' });
    expect(await summaryOf(folder.path)).toMatchObject({ is_done: false, baseline_selection_hard: expect.any(Number) });
  });

  it('when it is interrupted, up to the last event', async () => {
    await using folder = await temporaryDirectory();
    const controller = new AbortController();
    const observers = [inStepTwo(() => controller.abort(new Error('Ctrl-C')))];
    await expect(train(folder.path, { observers, signal: controller.signal })).rejects.toThrow('Ctrl-C');
    const { is_done: isDone, steps_done: stepsDone, token_summary: tokens } = await summaryOf(folder.path);
    const events = await readJournal(join(folder.path, 'events.jsonl'));
    expect([isDone, stepsDone]).toEqual([false, events.filter(({ type }) => type === 'step-end').length]);
    const input = events.reduce((sum, { usage }) => sum + (usage.rollout?.input ?? 0), 0);
    expect(tokens.rollout.input).toBe(input);
  });

  it('when a model is unreachable', async () => {
    await using folder = await temporaryDirectory();
    const down = { id: 'down', complete: () => Promise.reject(new ModelCallError('down', { status: 401 })) };
    await expect(train(folder.path, { optimizer: down })).rejects.toMatchObject({ code: 'MODEL_CALL_FAILED' });
    expect(await summaryOf(folder.path)).toMatchObject({ is_done: false, steps_done: 0 });
  });
});

describe('a run whose place is taken away', () => {
  const whole = levelsTarget();
  const callsOfWholeRun = train('unused', { target: whole, store: memoryRun() }).then(() => whole.requests.length);

  it.each([
    ['the folder is deleted', (path: string) => rmSync(path, { recursive: true, maxRetries: 5 })],
    ['the folder is moved', (path: string) => renameSync(path, `${path}.elsewhere`)],
    ['the journal is deleted', (path: string) => rmSync(join(path, 'events.jsonl'))],
  ])('stops when %s, and does not begin it again', async (_, harm) => {
    await using around = await temporaryDirectory();
    const path = join(around.path, 'run');
    let calls = 0;
    const target = scripted('levels-target', ({ messages }) => {
      calls++;
      return String(levelOf(messages[0]!.content));
    });
    const observers = [inStepTwo(() => harm(path))];
    await expect(train(path, { observers, target })).rejects.toMatchObject({ code: 'RUN_UNWRITABLE' });
    expect(existsSync(join(path, 'events.jsonl'))).toBe(false);
    expect(calls, 'nothing more was asked').toBeLessThan(await callsOfWholeRun);
  });
});

describe('a run whose journal was emptied', () => {
  let done: Awaited<ReturnType<typeof temporaryDirectory>>;
  beforeAll(async () => {
    done = await temporaryDirectory();
    await train(done.path, { config: { maxCalls: 1000 } });
  });
  afterAll(() => done[Symbol.asyncDispose]());

  it.each(['summary.json', 'history.json', 'runtime_state.json'])(
    'does not begin again beside its %s',
    async (name) => {
      await using folder = await temporaryDirectory();
      await cp(done.path, folder.path, { recursive: true });
      const journal = join(folder.path, 'events.jsonl');
      await writeFile(journal, '');
      for (const other of LATER_FILES) if (other !== name) await rm(join(folder.path, other));
      const left = await readFile(join(folder.path, name), 'utf8');
      const calls: unknown[] = [];
      const target = scripted('levels-target', (request) => String(calls.push(request)));
      await expect(train(folder.path, { target })).rejects.toMatchObject({
        code: 'JOURNAL_CORRUPT',
        message: expect.stringMatching(
          new RegExp(`events.jsonl must have the events of this run, which has a ${name}, but`),
        ),
        hint: expect.stringContaining('move this run away'),
      });
      expect(calls).toEqual([]);
      expect(await readFile(journal, 'utf8')).toBe('');
      expect(await readFile(join(folder.path, name), 'utf8')).toBe(left);
    },
  );

  it('begins where it was killed before its first event', async () => {
    await using folder = await temporaryDirectory();
    await cp(done.path, folder.path, { recursive: true });
    await writeFile(join(folder.path, 'events.jsonl'), '');
    for (const name of LATER_FILES) await rm(join(folder.path, name));
    for (const name of ['cache', 'spent.json', 'config.json', 'skills'])
      expect(existsSync(join(folder.path, name)), name).toBe(true);
    await train(folder.path, { config: { maxCalls: 1000 } });
    expect(await summaryOf(folder.path)).toMatchObject({ is_done: true });
  });
});

describe('a link that somebody planted in a run directory', () => {
  it.each(['best_skill.md.tmp', 'summary.json', 'spent.json', 'run.lock', 'steps', 'skills', 'events.jsonl'])(
    'is not followed: %s',
    async (name) => {
      await using around = await temporaryDirectory();
      const [path, victim] = [join(around.path, 'run'), join(around.path, 'victim')];
      const small = { env: levelsEnv({ size: 4 }), config: { numEpochs: 1, maxCalls: 1000 } };
      await train(path, { ...small, signal: AbortSignal.abort(new Error('at once')) }).catch(() => {});
      await rm(join(path, name), { recursive: true, force: true });
      await writeFile(victim, 'precious');
      await symlink(victim, join(path, name));
      await train(path, small).catch((error) => {
        expect(error).toBeInstanceOf(SkillError);
      });
      expect(await readFile(victim, 'utf8')).toBe('precious');
    },
  );
});

describe('a full disk', () => {
  it('is what a run says that has met one, even if closing fails too', async () => {
    const full = new SkillError('RUN_UNWRITABLE', 'the disk is full');
    const kept = memoryRun();
    const store = {
      ...kept,
      async open() {
        const open = await kept.open();
        return {
          ...open,
          append: (event: Parameters<typeof open.append>[0]) =>
            event.type === 'step-end' ? Promise.reject(full) : open.append(event),
          async [Symbol.asyncDispose]() {
            await open[Symbol.asyncDispose]();
            throw new Error('closing failed');
          },
        };
      },
    };
    await expect(train('unused', { store })).rejects.toBe(full);
  });
});
