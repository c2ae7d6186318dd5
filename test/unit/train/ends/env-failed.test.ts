import {
  emptyRun,
  evaluateSkill,
  type Item,
  memoryRun,
  reduce,
  type SkillEnv,
  type SkillOptConfigInput,
  SkillOptTrainer,
  toFact,
} from 'skillopt';
import { scripted } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../../../src/cli/index.ts';
import { captureIo } from '../../../support/capture-io.ts';
import { ofType } from '../../../support/scripted-run.ts';
import { DEFAULT_GATE, EPOCH_ENDS, STRICT } from '../../../support/strict-gate.ts';
import { tempFolder } from '../../../support/temp-folder.ts';

type Attempt = { readonly id: string; readonly skill: string };
type Sizes = Readonly<Record<string, number>>;

const SIZES: Sizes = { train: 6, val: 6, test: 6 };
const refused = () => new Error('connect ECONNREFUSED 127.0.0.1:9');

const levelsIn = (skill: string) => skill.split('LEVEL').length - 1;
const TWO_EPOCHS = { ...EPOCH_ENDS, numEpochs: 2 } as const;

/** Task k is solved from k levels on; `isDown` tells which attempts the agent does not survive. */
function world(isDown: (attempt: Attempt) => boolean, sizes = SIZES) {
  const seen: Attempt[] = [];
  const env: SkillEnv = {
    name: 'down',
    getItems: (split): Item[] => Array.from({ length: sizes[split] ?? 0 }, (_, k) => ({ id: `${split}-${k}` })),
    getInitialSkill: () => '# Skill\n',
    async rolloutOne({ item: { id }, skill }) {
      const attempt = { id, skill };
      seen.push(attempt);
      if (isDown(attempt)) throw refused();
      const hard = Number(Number(id.split('-')[1]) <= levelsIn(skill));
      return { hard, soft: hard, conversation: [{ content: id }] };
    },
  };
  return { env, seen };
}

/** Whatever is attempted from then on. */
function downFromFirstCandidate() {
  let isDown = false;
  return (attempt: Attempt) => {
    isDown ||= isCandidate(attempt);
    return isDown;
  };
}

const isCandidate = ({ id, skill }: Attempt) => id.startsWith('val') && skill.includes('LEVEL');

const model = scripted('target', () => 'nothing');
const proposing = () =>
  scripted('optimizer', ({ messages: [, user] }) => {
    const content = `LEVEL ${user!.content.split('LEVEL').length}`;
    const edits = [{ op: 'append', content }];
    return JSON.stringify({ patch: { edits }, edits, slow_update_content: 'Keep at it.', meta_skill_content: '' });
  });

type Run = {
  readonly env: SkillEnv;
  readonly store?: ReturnType<typeof memoryRun>;
  readonly config?: SkillOptConfigInput;
};

const train = ({ env, store = memoryRun(), config = {} }: Run, optimizer = proposing()) =>
  new SkillOptTrainer({
    env,
    target: model,
    optimizer,
    store,
    config: { ...STRICT, numEpochs: 1, batchSize: 6, workers: 1, ...config },
  }).train();

describe('an environment that throws on most tasks of a stage', () => {
  it('gives no score: the run stops with the reason they share, and no optimizer was asked', async () => {
    const [optimizer, store] = [proposing(), memoryRun()];
    await expect(train({ env: world(() => true).env, store }, optimizer)).rejects.toMatchObject({
      code: 'ENV_FAILED',
      message:
        'the environment threw on 6 of 6 tasks, which is no score; each because: connect ECONNREFUSED 127.0.0.1:9',
      hint: expect.stringContaining('resume the run'),
    });
    expect(optimizer.requests).toEqual([]);
    expect(store.events.map(({ type }) => type)).toEqual(['run-start']);
  });

  it('continues once the cause is mended: what threw is tried again, what did not is kept', async () => {
    const store = memoryRun();
    const broken = world(({ id }) => !/-[01]$/.test(id));
    await expect(train({ env: broken.env, store })).rejects.toMatchObject({ code: 'ENV_FAILED' });
    const mended = world(() => false);
    const summary = await train({ env: mended.env, store });
    expect(summary.isDone).toBe(true);
    expect(summary.baselineSelectionHard).toBe(1 / 6);
    expect(mended.seen.slice(0, 4).map(({ id }) => id)).toEqual(['val-2', 'val-3', 'val-4', 'val-5']);
  });

  it.each<[string, (attempt: Attempt) => boolean, SkillOptConfigInput]>([
    ['a training batch', ({ id }) => id.startsWith('train'), {}],
    ['a candidate before the strict gate', downFromFirstCandidate(), {}],
    ['a race', downFromFirstCandidate(), DEFAULT_GATE],
    ['an exact race', downFromFirstCandidate(), { racing: 'exact' }],
    ['a comparison of epochs', ({ id, skill }) => id.startsWith('train') && levelsIn(skill) > 1, TWO_EPOCHS],
    ['the test', ({ id }) => id.startsWith('test'), {}],
  ])('stops %s', async (_, isDown, config) => {
    await expect(train({ env: world(isDown).env, config })).rejects.toMatchObject({ code: 'ENV_FAILED' });
  });

  it('stops a measurement outside a run', async () => {
    const scoring = evaluateSkill({ env: world(() => true).env, skill: '', split: 'val', target: model });
    await expect(scoring).rejects.toMatchObject({ code: 'ENV_FAILED' });
  });

  it('stops one that attempts a batch at once, also when each of its results is unusable', async () => {
    const { env } = world(() => false);
    const throwing = { ...env, rolloutMany: () => Promise.reject(refused()) };
    await expect(train({ env: throwing })).rejects.toMatchObject({ code: 'ENV_FAILED' });
    const babbling = { ...env, rolloutMany: async ({ items }: { items: readonly Item[] }) => items.map(() => ({})) };
    await expect(train({ env: babbling as never })).rejects.toMatchObject({
      code: 'ENV_FAILED',
      message: expect.stringContaining('rolloutMany gave an unusable result'),
    });
  });
});

describe('a candidate that makes most tasks throw', () => {
  const gates: [string, SkillOptConfigInput][] = [
    ['the strict gate', {}],
    ['a race', DEFAULT_GATE],
    ['an exact race', { racing: 'exact' }],
    ['no gate', { useGate: false }],
  ];

  it.each(gates)('is rejected by %s once the current skill has answered on some of them', async (_, config) => {
    const [store, { env, seen }] = [memoryRun(), world(isCandidate)];
    const summary = await train({ env, store, config });
    expect(summary).toMatchObject({ isDone: true, totalRejects: summary.stepsDone, totalAccepts: 0 });
    const [judged] = ofType(store.events, 'stage-end').filter(({ stage }) => stage === 'evaluate');
    const blame = { total: 6, asked: 3, reason: 'connect ECONNREFUSED 127.0.0.1:9' };
    expect(judged).toMatchObject({ action: 'reject', blame });
    const first = seen.findIndex(isCandidate);
    const asked = seen.slice(first).filter(({ id, skill }) => id.startsWith('val') && !skill.includes('LEVEL'));
    expect(asked.slice(0, 3)).toHaveLength(3);
  });

  it('has the attempts of the current skill counted', async () => {
    const [innocent, guilty] = [memoryRun(), memoryRun()];
    const config = { finalPasses: 0 };
    await train({ env: world(() => false).env, store: innocent, config: { ...config, gate: 'strict' } });
    await train({ env: world(isCandidate).env, store: guilty, config: { ...config, gate: 'strict' } });
    const made = (store: typeof innocent) => store.events.reduce(reduce, emptyRun).rollouts;
    expect(made(guilty)).toBe(made(innocent) + 3);
  });

  it.each(gates)(
    'leaves the same journal under %s when the run is cut off after any of its lines',
    async (_, config) => {
      const whole = memoryRun();
      const settings = { ...config, salvage: true, proposalsPerBatch: 1 };
      await train({ env: world(isCandidate).env, store: whole, config: settings });
      for (const [index] of whole.events.entries()) {
        const cut = memoryRun(whole.events.slice(0, index));
        await train({ env: world(isCandidate).env, store: cut, config: settings });
        expect(cut.events.map(toFact)).toEqual(whole.events.map(toFact));
      }
    },
  );
});

describe('an environment that throws on half of the tasks, or on one', () => {
  it('has failed those: they are hard 0, kept, and attempted once', async () => {
    const { env, seen } = world(({ id }) => /-[345]$/.test(id));
    const summary = await train({ env, config: { proposalsPerBatch: 3 } });
    expect(summary.isDone).toBe(true);
    expect(summary.baselineSelectionHard).toBe(1 / 6);
    const first = seen.filter(({ skill }) => skill === '# Skill\n').map(({ id }) => id);
    expect(first).toEqual([...new Set(first)]);
  });

  it('is no outage where there is one task only', async () => {
    const { env } = world(({ id }) => id === 'val-0', { train: 2, val: 1, test: 1 });
    expect(await train({ env, config: { batchSize: 2 } })).toMatchObject({ isDone: true, baselineSelectionHard: 0 });
  });

  it('is one where both of two tasks throw', async () => {
    const { env } = world(({ id }) => id.startsWith('val'), { train: 2, val: 2, test: 2 });
    await expect(train({ env, config: { batchSize: 2 } })).rejects.toThrow('threw on 2 of 2 tasks');
  });

  it('says how many share the most frequent reason', async () => {
    const { env } = world(() => false);
    const reasons = ['down', 'late', 'down', 'down', 'late'];
    const mixed: SkillEnv = { ...env, rolloutOne: async () => Promise.reject(new Error(reasons.shift() ?? 'odd')) };
    await expect(train({ env: mixed })).rejects.toThrow(
      'threw on 6 of 6 tasks, which is no score; 3 of them because: down',
    );
  });

  it('does not stop a race whose hardest tasks always throw', async () => {
    const { env } = world(({ id }) => /val-[45]$/.test(id));
    const store = memoryRun();
    await train({ env, store, config: { racing: 'exact' } });
    expect(ofType(store.events, 'step-end')).toHaveLength(1);
  });
});

describe('one task that throws', () => {
  const source = `export default {
    name: 'agent', getItems: (split) => [0, 1, 2, 3].map((k) => ({ id: split + k })),
    rolloutOne: async ({ item }) => {
      if (item.id.endsWith('2')) throw new Error('no such file: /tmp/x\\u001b[2J');
      return { hard: 1, soft: 1 }; } };`;
  const config = { env: './env.mjs', target: 'simulated', optimizer: 'simulated' };
  const files = { 'env.mjs': source, 'skillopt.config.json': JSON.stringify(config), 'SKILL.md': '# S\n' };

  it.each([
    ['train', 'val2'],
    ['eval --skill SKILL.md', 'test2'],
    ['calibrate', 'val2'],
  ])('is one warning of %s, with its id and reason', async (line, id) => {
    using folder = tempFolder(files);
    const io = captureIo({ cwd: folder.path, columns: 300 });
    expect(await runCli(line.split(' '), io)).toBe(0);
    const warnings = io
      .err()
      .split('\n')
      .filter((text) => text.includes('threw'));
    expect(warnings).toEqual([
      expect.stringContaining(
        `warning: the environment threw on task ${id}, which counts as failed: no such file: /tmp/x`,
      ),
    ]);
    expect(io.err()).not.toContain('\u001b[2J');
  });

  it('is counted in the report of a run, and in that of eval', async () => {
    using folder = tempFolder(files);
    const io = captureIo({ cwd: folder.path, columns: 300 });
    await runCli(['train'], io);
    expect(io.out()).toMatch(/the environment threw in \d+ attempts, which count as failed/);
    const count = Number(/threw in (\d+)/.exec(io.out())?.[1]);
    const shown = captureIo({ cwd: folder.path });
    await runCli(['show', 'agent', '--json'], shown);
    expect(JSON.parse(shown.out())).toMatchObject({ attemptsThrown: count });
    const scored = captureIo({ cwd: folder.path });
    await runCli(['eval', '--skill', 'SKILL.md', '--json'], scored);
    expect(JSON.parse(scored.out())).toMatchObject({ n: 4, errored: 0, threw: 1 });
  });

  it('is a warning of the answer for machines', async () => {
    using folder = tempFolder(files);
    const io = captureIo({ cwd: folder.path });
    await runCli(['train', '--json'], io);
    expect(JSON.parse(io.out()).warnings).toContainEqual(expect.stringContaining('threw on task val2'));
  });
});

describe('the command line', () => {
  const source = `export default {
    name: 'agent', getItems: (split) => [0, 1, 2, 3].map((k) => ({ id: split + k })),
    rolloutOne: async () => { throw new Error('the agent is down'); } };`;
  const config = { env: './env.mjs', target: 'simulated', optimizer: 'simulated' };

  it.each(['train', 'eval --skill SKILL.md', 'calibrate'])('exits with 4 from %s, and says why', async (line) => {
    const files = { 'env.mjs': source, 'skillopt.config.json': JSON.stringify(config), 'SKILL.md': '# S\n' };
    using folder = tempFolder(files);
    const io = captureIo({ cwd: folder.path, columns: 300 });
    expect(await runCli(line.split(' '), io)).toBe(4);
    expect(io.err()).toContain('threw on 4 of 4 tasks, which is no score; each because: the agent is down');
    expect(io.err().includes('the run is kept in')).toBe(line === 'train');
  });
});
