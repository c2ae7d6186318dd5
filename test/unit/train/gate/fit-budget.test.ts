import { emptyRun, memoryRun, reduce, type SkillOptConfigInput } from 'skillopt';
import { describe, expect, it } from 'vitest';
import { reportLines } from '../../../../src/report/index.ts';
import { noColors } from '../../../../src/report/layout.ts';
import { expectEvery } from '../../../support/expect-every.ts';
import { appends, ofStage, ofType, type Script, scriptedRun, type Task } from '../../../support/scripted-run.ts';
import { marksProject } from '../../cli/check/marks-project.ts';

const VAL = 120;
/** Affords 48 of 120 validation tasks. */
const LIMIT = 864;
const WORDS = '48 of 120 validation tasks are used: maxRollouts: 864 pays for no more; 1,431 would use all.';

/** A quarter of the tasks is hard, and each has an answer of its own. */
const getItems = (split: string): Task[] =>
  Array.from({ length: { train: 16, val: VAL }[split] ?? 8 }, (_, k) => ({
    id: `${split}-${k}`,
    k,
    taskType: k % 4 === 0 ? 'hard' : 'easy',
    answers: [`${split}secret${k}`],
  }));

type Options = { readonly script?: Script; readonly store?: ReturnType<typeof memoryRun> };

async function run(config: SkillOptConfigInput = {}, { script = {}, store = memoryRun() }: Options = {}) {
  const played = await scriptedRun({
    solves: (_skill, { k }) => k % 5 < 2,
    hooks: { getItems },
    script,
    config: {
      ...{ gate: 'paired', numEpochs: 1, batchSize: 16, finalPasses: 1, maxRollouts: LIMIT, optimizerRatio: 0.1 },
      ...config,
    },
    store,
  });
  const met = [...new Set(played.rollouts.map(({ id }) => id))].filter((id) => id.startsWith('val-'));
  return { ...played, met, state: played.store.events.reduce(reduce, emptyRun) };
}

const spared = (met: readonly string[]) =>
  getItems('val').flatMap(({ id, k }) => (met.includes(id) ? [] : [{ id, answer: `valsecret${k}` }]));

describe('validation tasks that the rollouts cannot afford', () => {
  it('are left out: a sample with as many of each type is used, for everything', async () => {
    const { met, facts, state } = await run();
    expect(met).toHaveLength(48);
    expect(met.filter((id) => Number(id.slice(4)) % 4 === 0)).toHaveLength(12);
    expect(ofType(facts, 'run-start')[0]!.items).toEqual({ train: 16, val: 48, test: 8 });
    expect(
      ofType(facts, 'baseline-end')[0]!
        .evaluation.scores.map(({ id }) => id)
        .sort(),
    ).toEqual([...met].sort());
    expect(ofType(facts, 'final-measurement-end')[0]!.passes[0]!.scores).toHaveLength(48);
    expect(state.rollouts).toBeLessThanOrEqual(LIMIT);
  });

  it('are the same under the same seed, and others under another', async () => {
    const [one, again, other] = [await run(), await run(), await run({ seed: 43 })];
    expect(again.facts.slice(1)).toEqual(one.facts.slice(1));
    expect(other.met).toHaveLength(48);
    expect([...other.met].sort()).not.toEqual([...one.met].sort());
  });

  it('are never protected ones', async () => {
    const others = spared((await run()).met);
    const protectedItems = others.slice(0, 5).map(({ id }) => id);
    const { met } = await run({ protectedItems });
    expect(met).toHaveLength(48);
    expect(met).toEqual(expect.arrayContaining(protectedItems));
    const many = others.slice(0, 60).map(({ id }) => id);
    expect((await run({ protectedItems: many })).met.sort()).toEqual([...many].sort());
  });

  it.each<[string, SkillOptConfigInput]>([
    ['fitValidation: false', { fitValidation: false }],
    ['a limit that affords them', { maxRollouts: 1431 }],
    ['the strict gate', { gate: 'strict' }],
    ['no gate', { useGate: false }],
    ['the paper', { preset: 'paper', gate: 'strict' }],
    ['no limit', { maxRollouts: undefined, proposalsPerBatch: 1 }],
  ])('are all used under %s', async (_name, config) => {
    const { met, summary } = await run(config);
    expect(met).toHaveLength(VAL);
    expect(summary.warnings.join()).not.toContain('validation tasks are used');
  });

  it('are left out from one rollout less on than their words say', async () => {
    const { summary } = await run({ maxRollouts: 1430 });
    expect(summary.warnings.join()).toMatch(/79 of 120 validation tasks are used: maxRollouts: 1430 .* 1,431 would/);
  });

  it('are the ones that selEnvNum chose, where it is said', async () => {
    const { met } = await run({ selEnvNum: 100 });
    expect(met.map((id) => Number(id.slice(4))).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 100 }, (_, k) => k),
    );
  });

  it('may not be given away by an edit, though nobody attempts them', async () => {
    const [first, second] = spared((await run()).met);
    const analyst = () => appends(`Say ${first!.answer}.`, 'Be brief.');
    const { facts, summary, met } = await run({ leakCritic: true }, { script: { analyst } });
    const [select] = ofStage(facts, 'select');
    expect(select).toMatchObject({
      refused: [{ content: `Say ${first!.answer}.`, reason: expect.stringContaining(`val item ${first!.id}`) }],
      patch: { edits: [{ content: 'Be brief.' }] },
    });
    expect(summary.bestSkill).not.toContain(first!.answer);
    expect(met).not.toContain(second!.id);
  });

  it('are in no prompt', async () => {
    const { requests, met } = await run({ leakCritic: true }, { script: { analyst: () => appends('Be brief.') } });
    const texts = [...requests.optimizer, ...requests.target]
      .map(({ messages }) => JSON.stringify(messages))
      .join('\n');
    expectEvery(spared(met), ({ answer }) => !new RegExp(`${answer}\\b`).test(texts));
  });

  it('are counted in the warnings of the run, its journal and its report', async () => {
    const { facts, summary, state } = await run();
    expect(summary.warnings).toContain(WORDS);
    expect(ofType(facts, 'run-start')[0]!.aboutTasks).toEqual([WORDS]);
    const places = { run: 'r', bestSkillPath: 'b', width: 200, colors: noColors, isComplete: false };
    expect(reportLines(state, places).join('\n')).toContain(WORDS);
  });

  it('stay the same ones in a resumed run, which ends as the whole one', async () => {
    const script = { analyst: ({ step }: { readonly step: number }) => appends(`Remark ${step}.`) };
    const whole = await run({}, { script });
    for (let cut = 1; cut < whole.store.events.length; cut += 4) {
      const again = await run({}, { script, store: memoryRun(whole.store.events.slice(0, cut)) });
      expect(again.facts, `cut after event ${cut}`).toEqual(whole.facts);
    }
  });

  it('are chosen anew by no resumed run: another limit is refused by its name, other tasks as such', async () => {
    const whole = await run();
    const resumed = (config: SkillOptConfigInput) => run(config, { store: memoryRun(whole.store.events.slice(0, 5)) });
    const words = 'maxRollouts: was 864, is 1431';
    const refused = (message: string) => ({ code: 'RUN_MISMATCH', message: expect.stringMatching(message) });
    await expect(resumed({ maxRollouts: 1431 })).rejects.toMatchObject(refused(`something else: ${words}$`));
    await expect(resumed({ maxRollouts: 1431, seed: 43 })).rejects.toMatchObject(refused(words));
    await expect(resumed({ seed: 43 })).rejects.toMatchObject(refused('the tasks have changed \\(val, spare\\)'));
    expect((await resumed({})).facts).toEqual(whole.facts);
  });

  it('are counted before a run: in the forecast, and by doctor', async () => {
    using project = marksProject({}, 'maxRollouts: 48\n');
    const words = '9 of 12 validation tasks are used: maxRollouts: 48 pays for no more; 60 would use all.';
    expect((await project.cli('estimate')).out.replace(/\s+/g, ' ')).toContain(words);
    expect((await project.cli('doctor')).out).toContain('2 to train on, 9 of 12 to select by, 40 to test with');
  });
});
