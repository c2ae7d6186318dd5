import { emptyRun, memoryRun, type Progress, reduce, type SkillOptConfigInput } from 'skillopt';
import { describe, expect, it } from 'vitest';
import { expectEvery } from '../../../support/expect-every.ts';
import { appends, type Call, ofStage, ofType, scriptedRun, type Task } from '../../../support/scripted-run.ts';

/** 6 of 20 tasks are solved; GAIN solves 8 more, HARM loses 3 of those that were solved, and HELP solves 3 others. */
function solves(skill: string, { k }: Task): boolean {
  if (k < 6) return !(skill.includes('HARM') && k < 3);
  if (k < 14) return skill.includes('GAIN');
  return k < 17 && skill.includes('HELP');
}

const PAIRED: SkillOptConfigInput = { gate: 'paired', numEpochs: 4, batchSize: 10, evalTest: false };

type Store = ReturnType<typeof memoryRun>;
type Analyst = (call: Call) => ReturnType<typeof appends>;

/** First what wins, then remarks that change nothing. */
const winThenChat =
  (...lines: readonly string[]): Analyst =>
  ({ step }) =>
    step === 1 ? appends(...lines) : appends(`Remark ${step}.`);

async function run(analyst: Analyst, config: SkillOptConfigInput = {}, store: Store = memoryRun()) {
  const played = await scriptedRun({
    solves,
    sizes: { train: 10, val: 20, test: 0 },
    script: { analyst },
    config: { ...PAIRED, ...config },
    store,
  });
  return { ...played, state: played.store.events.reduce(reduce, emptyRun) };
}

describe('a patch that won and carried something harmful along', () => {
  const carried = winThenChat('GAIN', 'HARM');

  it('is tried without the later half of what it added, once proposals stop winning', async () => {
    const { facts } = await run(carried);
    expect(ofType(facts, 'step-end')[0]).toMatchObject({ action: 'accept_new_best' });
    const [removal] = ofType(facts, 'removal-end');
    expect(removal).toMatchObject({ step: 2, of: 1, removed: ['HARM'] });
    expect(removal!.candidateSkill, 'and leaves no empty line at the end').toBe('# Skill\n\nGAIN\n');
  });

  it('says that it is a removal while it is under way', async () => {
    const phases = new Set<string>();
    const observers = [{ onProgress: ({ phase }: Progress) => void phases.add(phase) }];
    const script = { analyst: carried };
    const sizes = { train: 10, val: 20, test: 0 };
    await scriptedRun({ solves, sizes, script, config: PAIRED, options: { observers } });
    expect(phases).toContain('removal');
    expect(phases).not.toContain('salvage');
  });

  it('loses that half where the skill is better without, and the record of the step says so', async () => {
    const { facts, state, summary, store } = await run(carried);
    expect(ofType(facts, 'removal-end')[0]).toMatchObject({
      action: 'accept_new_best',
      decision: { verdict: 'accept' },
    });
    expect(summary.bestSkill.trim()).toBe('# Skill\n\nGAIN');
    expect(summary).toMatchObject({ bestOrigin: 'removal_0002', currentOrigin: 'removal_0002' });
    expect(state.history[1]).toMatchObject({ action: 'reject', removed: ['HARM'], currentOrigin: 'removal_0002' });
    expect(state.history[0]).not.toHaveProperty('removed');
    const [, record] = JSON.parse(store.views['history.json']!);
    expect(record.removed).toEqual(['HARM']);
  });

  it('is the skill to beat from then on', async () => {
    const helpful: Analyst = ({ step }) =>
      appends(...(step === 1 ? ['GAIN', 'HARM'] : step === 2 ? ['Remark.'] : ['HELP']));
    const { facts, summary } = await run(helpful);
    expect(ofType(facts, 'step-end')[2]).toMatchObject({ action: 'accept_new_best' });
    expect(ofStage(facts, 'evaluate')[2]!.decision!.meanGain).toBeGreaterThan(0.1);
    expect(summary.bestSkill.trim().replace(/\n+/g, ' ')).toBe('# Skill GAIN HELP');
  });

  it('keeps what helps: it is tried without, stays, and nothing is tried twice', async () => {
    const { facts, state, summary } = await run(winThenChat('GAIN', 'HELP'), { numEpochs: 7 });
    const removals = ofType(facts, 'removal-end');
    expect(removals[0]).toMatchObject({ of: 1, removed: ['HELP'], action: 'reject' });
    expect(new Set(removals.map(({ candidateHash }) => candidateHash)).size).toBe(removals.length);
    expect(summary.bestSkill).toBe('# Skill\n\nGAIN\n\nHELP\n');
    expect(state.history.filter(({ action }) => action === 'reject').length).toBeGreaterThan(removals.length);
    expectEvery(state.history, (record) => record.removed === undefined);
  });

  it('is left as it is where it says one thing', async () => {
    const { facts } = await run(winThenChat('GAIN'));
    expect(ofType(facts, 'removal-end')).toEqual([]);
  });

  it.each([{ tryRemovals: false }, { gate: 'strict' }, { preset: 'paper', gate: 'paired' }] as const)(
    'is left as it is under %o',
    async (config) => {
      const { facts, summary } = await run(carried, config);
      expect(ofType(facts, 'removal-end')).toEqual([]);
      expect(summary.bestSkill).toContain('HARM');
    },
  );

  it('waits for three lost steps in a row while the optimizer has more ideas than may be tried at once', async () => {
    const ideas: Analyst = ({ step, prompt }) =>
      step === 1 ? appends('GAIN', 'HARM') : appends(`Remark ${step} of ${prompt}.`, `Aside ${step} of ${prompt}.`);
    const { facts } = await run(ideas, { editBudget: 2, numEpochs: 6 });
    expect(ofType(facts, 'removal-end')[0]).toMatchObject({ step: 4, of: 1, removed: ['HARM'] });
  });

  it('is tried part by part where several were accepted, each part once', async () => {
    const twice: Analyst = ({ step }) =>
      appends(...([[], ['GAIN', 'Idle words.'], ['HELP', 'Empty words.']][step] ?? [`Remark ${step}.`]));
    const { facts, summary } = await run(twice, { numEpochs: 9 });
    expect(ofType(facts, 'step-end').slice(0, 2)).toMatchObject(Array(2).fill({ action: 'accept_new_best' }));
    const tried = ofType(facts, 'removal-end').map(({ of, removed }) => [of, ...removed].join(' '));
    expect(tried).toEqual(expect.arrayContaining(['1 Idle words.', '2 Empty words.']));
    expect(new Set(tried).size).toBe(tried.length);
    for (const word of ['GAIN', 'HELP']) expect(summary.bestSkill).toContain(word);
  });

  it('meets the same end when it is resumed', async () => {
    const whole = await run(carried);
    for (let cut = 1; cut < whole.store.events.length; cut += 5) {
      const again = await run(carried, {}, memoryRun(whole.store.events.slice(0, cut)));
      expect(again.facts, `cut after event ${cut}`).toEqual(whole.facts);
    }
  });

  it('meets the same facts with one worker and with sixteen', async () => {
    const [one, many] = await Promise.all([1, 16].map((workers) => run(carried, { workers })));
    expect(many!.facts.slice(1)).toEqual(one!.facts.slice(1));
  });
});
