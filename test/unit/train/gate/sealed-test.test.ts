import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { memoryRun, type RunEvent, type SkillOptConfigInput, SkillOptTrainer, toFact } from 'skillopt';
import { describe, expect, it } from 'vitest';
import { readJournal } from '../../../../src/stores/run/journal.ts';
import { levelsEnv, levelsOptimizer, levelsTarget } from '../../../support/levels.ts';
import {
  appends,
  byLevel,
  type Call,
  levelOf,
  ofType,
  type Script,
  scriptedRun,
} from '../../../support/scripted-run.ts';
import { EPOCH_ENDS, STRICT } from '../../../support/strict-gate.ts';
import { temporaryDirectory } from '../../stores/run-directory.fixture.ts';

type Options = { readonly config?: SkillOptConfigInput; readonly size?: number };

/** Trains in a folder, and answers with what the journal says. */
async function train(outRoot: string, { config, size = 5 }: Options = {}) {
  const models = { target: levelsTarget(), optimizer: levelsOptimizer() };
  const settings = { ...STRICT, numEpochs: 1, batchSize: size, workers: 2, outRoot, ...config };
  const summary = await new SkillOptTrainer({ env: levelsEnv({ size }), ...models, config: settings }).train();
  return { summary, facts: (await readJournal(join(outRoot, 'events.jsonl'))).map(toFact) };
}

async function ledgerIn(directory: string): Promise<{ run: string; tasks: string; subjects: object }[]> {
  const text = await readFile(join(directory, 'test_looks.jsonl'), 'utf8').catch(() => '');
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

describe('the seal of the test split', () => {
  it('is opened once for all skills of a run, and the run says so', async () => {
    await using folder = await temporaryDirectory();
    const { facts, summary } = await train(join(folder.path, 'run'));
    const [entry, ...more] = await ledgerIn(folder.path);
    expect(more).toEqual([]);
    expect(Object.keys(entry!.subjects)).toEqual(['baseline', 'best', 'final']);
    expect(ofType(facts, 'test-look')).toEqual([{ type: 'test-look', looks: 1, tasks: entry!.tasks }]);
    expect(facts.map(({ type }) => type).slice(-5)).toEqual([
      'test-look',
      'test-end',
      'test-end',
      'test-end',
      'run-end',
    ]);
    expect(summary.testLooks).toBe(1);
    expect(JSON.parse(await readFile(join(folder.path, 'run', 'summary.json'), 'utf8')).test_looks).toBe(1);
  });

  it('is opened no second time by a run that is resumed, wherever it was cut off', async () => {
    await using folder = await temporaryDirectory();
    const run = join(folder.path, 'run');
    const { facts } = await train(run);
    const lines = (await readFile(join(run, 'events.jsonl'), 'utf8')).split('\n').slice(0, -1);
    const [before] = await ledgerIn(folder.path);
    await train(join(folder.path, 'another')); // came while this run was down
    // From right before the fact, when the ledger has the entry already, to the end.
    const look = facts.findIndex(({ type }) => type === 'test-look');
    for (const cut of [look, look + 1, look + 3, facts.length]) {
      await writeFile(
        join(run, 'events.jsonl'),
        lines.slice(0, cut).map((line) => `${line}\n`),
      );
      const resumed = await train(run);
      expect(resumed.facts, `cut after ${cut} events`).toEqual(facts);
      expect(resumed.summary.testLooks).toBe(1);
    }
    expect(await ledgerIn(folder.path)).toEqual([before, expect.objectContaining({ tasks: before!.tasks })]);
  });

  it('was opened before by other runs in the folder, but not for other tasks', async () => {
    await using folder = await temporaryDirectory();
    const looks = async (name: string, options?: Options) =>
      (await train(join(folder.path, name), options)).summary.testLooks;
    expect(await looks('one')).toBe(1);
    expect(await looks('two', { config: { seed: 7 } })).toBe(2);
    expect(await looks('more tasks', { size: 6 })).toBe(1);
    expect(await looks('some of the tasks', { config: { testEnvNum: 2 } })).toBe(3);
  });

  it('stays closed where nothing is tested', async () => {
    await using folder = await temporaryDirectory();
    const { facts, summary } = await train(join(folder.path, 'run'), { config: { evalTest: false } });
    expect(ofType(facts, 'test-look')).toEqual([]);
    expect(summary.testLooks).toBeNull();
    expect(await ledgerIn(folder.path)).toEqual([]);
  });

  it('is opened by a run of an earlier version that has something left to test', async () => {
    const { store, facts } = await scriptedRun(LEVELS);
    const earlier = store.events.filter(({ type }) => type !== 'test-look');
    const done = await scriptedRun({ ...LEVELS, store: memoryRun(earlier) });
    expect(done.facts).toEqual(earlier.map(toFact));
    expect(done.summary.testLooks).toBeNull();
    const resumed = await scriptedRun({ ...LEVELS, store: memoryRun(earlier.slice(0, -2)) });
    expect(ofType(resumed.facts, 'test-look')).toEqual(ofType(facts, 'test-look'));
    expect(resumed.facts.at(-1)).toEqual({ type: 'run-end' });
  });
});

const LEVELS = {
  solves: byLevel,
  script: { analyst: ({ user }: Call) => appends(`LEVEL=${levelOf(user) + 3}`) },
  config: { numEpochs: 2, batchSize: 5 },
};

/** Everything that a run can do, at once. */
const EVERYTHING: SkillOptConfigInput = {
  ...EPOCH_ENDS,
  numEpochs: 3,
  batchSize: 5,
  lrControlMode: 'autonomous',
  useSkillAwareReflection: true,
  slowUpdateSamples: 4,
  longitudinalPairPolicy: 'changed',
  salvage: true,
  prune: true,
};

/** Proposals that get accepted, and some that are spoiled. */
const script: Script = {
  analyst: ({ step }) => appends(`GOOD${step}`, `GOOD${step + 1}`, step % 2 === 0 ? 'BAD' : 'idle'),
  lr_autonomous: () => ({ learning_rate: 3 }),
  slow_update: ({ epoch }) => ({ slow_update_content: `GOOD${6 + epoch}` }),
  meta_skill: () => ({ meta_skill_content: 'notes' }),
};

describe('before the seal is open', () => {
  it.each([
    ['strict', STRICT],
    ['paired', { gate: 'paired', racing: 'off', finalPasses: 2, leakCritic: true }],
  ] as const)('no test task is attempted, with everything on (%s gate)', async (_name, gate) => {
    const attempted: { id: string; isOpen: boolean }[] = [];
    let isOpen = false;
    const onEvent = (event: RunEvent) => {
      isOpen ||= event.type === 'test-look';
    };
    const { facts } = await scriptedRun({
      solves(skill, { id, k }) {
        attempted.push({ id, isOpen });
        return skill.includes(`GOOD${k}`) && !skill.includes('BAD');
      },
      script,
      config: { ...EVERYTHING, ...gate },
      options: { observers: [{ onEvent }] },
    });
    const types = new Set(facts.map(({ type }) => type));
    for (const type of ['salvage-end', 'slow-update-end', 'meta-skill-end', 'prune-end']) expect(types).toContain(type);
    const tests = attempted.filter(({ id }) => id.startsWith('test-'));
    expect(tests.length).toBeGreaterThan(0);
    expect(tests.filter((attempt) => !attempt.isOpen)).toEqual([]);
    expect(attempted.filter(({ id }) => !id.startsWith('test-')).some((attempt) => attempt.isOpen)).toBe(false);
  });
});
