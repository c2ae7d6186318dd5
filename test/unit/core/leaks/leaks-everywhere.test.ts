import { memoryRun, type SkillOptConfigInput } from 'skillopt';
import { describe, expect, it } from 'vitest';
import { readNotes } from '../../../../src/core/document/index.ts';
import { emptyRun, reduce } from '../../../../src/core/run/index.ts';
import { eventLines, reportLines } from '../../../../src/report/index.ts';
import { noColors } from '../../../../src/report/layout.ts';
import {
  appends,
  byLevel,
  ofStage,
  ofType,
  type Script,
  scriptedRun,
  type Task,
} from '../../../support/scripted-run.ts';

const config: SkillOptConfigInput = {
  leakCritic: true,
  numEpochs: 1,
  batchSize: 10,
  minibatchSize: 10,
  useMetaSkill: false,
  useSlowUpdate: false,
};

/** Tasks with a secret each, and one word that all of them share. */
const getItems = (split: string): Task[] =>
  Array.from({ length: 10 }, (_, k) => ({ id: `${split}-${k}`, k, answers: [`${split}secret${k}`, 'common ground'] }));

type Store = ReturnType<typeof memoryRun>;

const run = (script: Script, more: SkillOptConfigInput = {}, store: Store = memoryRun()) =>
  scriptedRun({
    solves: byLevel,
    initialSkill: '# Skill\n\nLEVEL=0 and valsecret9\n',
    hooks: { getItems },
    script,
    config: { ...config, ...more },
    store,
  });

const stateOf = (store: Store) => store.events.reduce(reduce, emptyRun);
const progressOf = ({ events }: Store) =>
  events.flatMap((event, index) => {
    const before = events.slice(0, index).reduce(reduce, emptyRun);
    return eventLines(event, { before, after: reduce(before, event) }, { width: 80, colors: noColors });
  });
const reportOf = (store: Store, isComplete = false) =>
  reportLines(stateOf(store), { run: 'r', bestSkillPath: 'b', width: 80, colors: noColors, isComplete });
const view = (store: Store, path: string) => JSON.parse(String(store.views[path]));

const ALLOWED = 'common ground, and valsecret9 as the skill says';
const LEAK = /it repeats an answer of val item val-3: "valsecret3"/;

describe('a rewrite that gives a held-out task away', () => {
  const rewriting = (more: string): Script => ({
    analyst: () => ({ patch: { revise_suggestions: [{ title: 'levels', instruction: 'Say the level.' }] } }),
    rewrite: () => ({ new_skill: `# Levels\n\nLEVEL=4\n\n${more}`, change_summary: 'the level' }),
  });
  const mode = { skillUpdateMode: 'rewrite_from_suggestions' } as const;

  it('is refused with the reason, and not measured', async () => {
    const { facts, store, summary } = await run(rewriting('Say valsecret3.'), mode);
    const [update] = ofStage(facts, 'update');
    expect(update).toMatchObject({
      candidateSkill: expect.stringContaining('LEVEL=0'),
      report: [{ status: 'skipped_leak' }],
      refused: [{ op: 'rewrite', content: expect.stringContaining('LEVEL=4'), reason: expect.stringMatching(LEAK) }],
    });
    expect(ofType(facts, 'step-end')).toMatchObject([{ action: 'skip_no_rewrite' }]);
    expect(stateOf(store).history).toMatchObject([{ nLeaksRefused: 1, editStatuses: ['skipped_leak'] }]);
    expect(view(store, 'steps/step_0001/refused_update.json')).toMatchObject([{ op: 'rewrite' }]);
    expect(summary.bestSkill).not.toContain('valsecret3');
  });

  it('passes with what all tasks share or the skill says already, and whatever it says when the critic is off', async () => {
    const allowed = await run(rewriting(ALLOWED), mode);
    expect(ofType(allowed.facts, 'step-end')).toMatchObject([{ action: 'accept_new_best' }]);
    const unread = await run(rewriting('Say valsecret3.'), { ...mode, leakCritic: false });
    expect(ofType(unread.facts, 'step-end')).toMatchObject([{ action: 'accept_new_best' }]);
  });

  it('is refused when an analyst writes the whole document', async () => {
    const candidate = (more: string): Script => ({
      analyst: () => ({ patch: { skill_candidates: [{ title: 't', new_skill: `LEVEL=4\n\n${more}` }] } }),
    });
    const whole = { skillUpdateMode: 'full_rewrite_minibatch' } as const;
    const refused = await run(candidate('Say valsecret3.'), whole);
    expect(ofStage(refused.facts, 'select')).toMatchObject([
      { patch: { edits: [] }, refused: [{ op: 'rewrite', reason: expect.stringMatching(LEAK) }] },
    ]);
    expect(view(refused.store, 'steps/step_0001/refused_edits.json')).toHaveLength(1);
    const allowed = await run(candidate(ALLOWED), whole);
    expect(ofType(allowed.facts, 'step-end')).toMatchObject([{ action: 'accept_new_best' }]);
  });
});

describe('a reminder that gives a held-out task away', () => {
  const reminding = (...appendix_notes: readonly string[]): Script => ({
    analyst: ({ step }) => ({ ...appends(`LEVEL=${step + 3}`), appendix_notes }),
  });
  const aware = { useSkillAwareReflection: true } as const;

  it('is left out, once, and the others stay', async () => {
    const script = reminding('look twice', 'remember valsecret3', ALLOWED);
    const { facts, summary, store } = await run(script, aware);
    expect(readNotes(summary.bestSkill)).toEqual(['look twice', ALLOWED]);
    expect(ofStage(facts, 'update')[0]).toMatchObject({
      notes: { added: 2, total: 2 },
      refused: [{ op: 'remind', content: 'remember valsecret3', reason: expect.stringMatching(LEAK) }],
    });
    expect(stateOf(store).history).toMatchObject([{ nLeaksRefused: 1, nAppendixNotesAdded: 2 }]);
  });

  it('is kept when the critic is off', async () => {
    const { summary, facts } = await run(reminding('remember valsecret3'), { ...aware, leakCritic: false });
    expect(readNotes(summary.bestSkill)).toEqual(['remember valsecret3']);
    expect(ofStage(facts, 'update')[0]).not.toHaveProperty('refused');
  });

  it('does not come in by a consolidation, which is then not used', async () => {
    const script = {
      ...reminding('look twice', 'read slowly'),
      appendix_consolidate: () => ({ notes: ['look at valsecret3'] }),
    };
    const { facts, summary } = await run(script, { ...aware, skillAwareConsolidateThreshold: 1 });
    expect(readNotes(summary.bestSkill)).toEqual(['look twice', 'read slowly']);
    expect(ofStage(facts, 'update')[0]).toMatchObject({
      notes: { added: 2, total: 2, consolidated: false },
      refused: [{ content: 'look at valsecret3' }],
    });
  });
});

describe('guidance that gives a held-out task away', () => {
  const guiding = (text: string): Script => ({
    analyst: ({ step }) => appends(`LEVEL=${step}`),
    slow_update: () => ({ slow_update_content: text }),
  });
  const slow = { useSlowUpdate: true, numEpochs: 2, slowUpdateSamples: 4 } as const;

  it.each([true, false])('is refused with the reason (through the gate: %s)', async (slowUpdateGate) => {
    const { facts, summary, store } = await run(guiding('LEVEL=9 for valsecret3'), { ...slow, slowUpdateGate });
    expect(ofType(facts, 'slow-update-end')).toMatchObject([
      { action: 'leak', leakReason: expect.stringMatching(LEAK), evaluation: null },
    ]);
    expect(summary.bestSkill).not.toContain('valsecret3');
    expect(view(store, 'slow_update/epoch_02/slow_result.json')).toMatchObject({
      action: 'leak',
      leak_reason: expect.stringMatching(LEAK),
    });
    expect(progressOf(store)).toContain('· epoch 2  guidance refused: it gives tasks away');
    expect(reportOf(store)).toContain('refused: 1 text that gives tasks away');
    expect(reportOf(store, true)).toContainEqual(expect.stringMatching(/^ {2}epoch 2 {2}it repeats an answer of val/));
  });

  it('passes with what is shared, and whatever it says when the critic is off', async () => {
    const allowed = await run(guiding(`LEVEL=9, ${ALLOWED}`), slow);
    expect(ofType(allowed.facts, 'slow-update-end')).toMatchObject([{ action: 'accept_new_best' }]);
    const unread = await run(guiding('LEVEL=9 for valsecret3'), { ...slow, leakCritic: false });
    expect(ofType(unread.facts, 'slow-update-end')).toMatchObject([{ action: 'accept_new_best' }]);
  });
});

describe('what was refused', () => {
  const script: Script = {
    analyst: ({ step }) => ({
      ...appends(`LEVEL=${step + 3}`, 'Say valsecret3.'),
      appendix_notes: ['remember testsecret4'],
    }),
  };
  const two = { useSkillAwareReflection: true, batchSize: 5, minibatchSize: 5 } as const;

  it('is counted over edits and reminders, in the record, the progress and the report', async () => {
    const { store } = await run(script, two);
    expect(stateOf(store).history.map(({ nLeaksRefused }) => nLeaksRefused)).toEqual([2, 2]);
    expect(progressOf(store).filter((line) => line.includes('2 leaks refused'))).toHaveLength(2);
    expect(reportOf(store)).toContain('refused: 4 texts that give tasks away');
    expect(reportOf(store, true).filter((line) => line.includes('testsecret4'))).toHaveLength(2);
  });

  it('is the same when a run is cut off anywhere and continues', async () => {
    const whole = await run(script, two);
    for (const [cut, event] of whole.store.events.entries()) {
      if (event.type !== 'stage-end') continue;
      const resumed = await run(script, two, memoryRun(whole.store.events.slice(0, cut + 1)));
      expect(resumed.facts).toEqual(whole.facts);
      expect(stateOf(resumed.store).leaks).toEqual(stateOf(whole.store).leaks);
    }
  });

  it('takes the place of what was refused when the step was taken before', async () => {
    const { store } = await run(script, two);
    const second = store.events.filter((event) => 'step' in event && event.step === 2 && event.type !== 'step-end');
    const end = store.events.findIndex((event) => event.type === 'step-end' && event.step === 2);
    const again = [...store.events.slice(0, end), ...second, ...store.events.slice(end)];
    expect(again.reduce(reduce, emptyRun).history.map(({ nLeaksRefused }) => nLeaksRefused)).toEqual([2, 2]);
  });
});

describe('what copies the answer of a training task', () => {
  const COPY = 'it repeats the answer of training task train-1: "trainsecret1mill"';
  const world = (split: string) =>
    getItems(split).map((task) => ({ ...task, answers: [`${split}secret${task.k}mill`] }));
  const copying: Script = {
    analyst: () => ({ ...appends('LEVEL=4', 'Say trainsecret1mill.'), appendix_notes: ['mind trainsecret1mill'] }),
    slow_update: () => ({ slow_update_content: 'LEVEL=9 as in trainsecret1mill' }),
  };
  const trained = (more: SkillOptConfigInput = {}, store: Store = memoryRun()) =>
    scriptedRun({
      ...{ solves: byLevel, initialSkill: '# Skill\n\nLEVEL=0\n', hooks: { getItems: world }, script: copying, store },
      config: { ...config, useSkillAwareReflection: true, ...more },
    });

  it('is refused with the reason, as an edit and as a reminder, and the rest is kept', async () => {
    const { facts, store, summary } = await trained();
    expect(ofStage(facts, 'select')).toMatchObject([
      {
        patch: { edits: [{ content: 'LEVEL=4' }] },
        refused: [{ op: 'append', content: 'Say trainsecret1mill.', reason: COPY }],
      },
    ]);
    expect(ofStage(facts, 'update')[0]!.refused).toMatchObject([{ op: 'remind', reason: COPY }]);
    expect(ofType(facts, 'step-end')).toMatchObject([{ action: 'accept_new_best' }]);
    expect(summary).toMatchObject({ memorisedShare: 0, bestSkill: expect.stringContaining('LEVEL=4') });
    expect(summary.bestSkill).not.toContain('trainsecret1mill');
    expect(reportOf(store)).toContain('refused: 2 texts that give tasks away');
    expect(reportOf(store, true)).toContain(`  step 1   ${COPY}`);
  });

  it('is refused as guidance', async () => {
    const { facts } = await trained({ useSlowUpdate: true, numEpochs: 2, slowUpdateSamples: 4 });
    expect(ofType(facts, 'slow-update-end')).toMatchObject([{ action: 'leak', leakReason: COPY }]);
  });

  it('passes when the critic is off', async () => {
    const { facts, summary } = await trained({ leakCritic: false });
    expect(ofStage(facts, 'select')[0]).not.toHaveProperty('refused');
    expect(summary.bestSkill).toContain('Say trainsecret1mill.');
  });
});

describe('the memorised share', () => {
  const memorising: Script = { analyst: () => appends('LEVEL=4', 'See train-1.', 'Then train-2.') };

  it('is that of the patch, of the candidate, and of the best skill at the end', async () => {
    const { facts, store, summary } = await run(memorising);
    expect(ofStage(facts, 'select')[0]).toMatchObject({ memorisedShare: 0.2 });
    expect(ofStage(facts, 'update')[0]).toMatchObject({ memorisedShare: 0.2 });
    expect(stateOf(store).history).toMatchObject([{ action: 'accept_new_best', memorisedShare: 0.2 }]);
    expect(ofType(facts, 'run-end')).toMatchObject([{ memorisedShare: 0.2 }]);
    expect(summary.memorisedShare).toBe(0.2);
    expect(view(store, 'summary.json')).toMatchObject({ memorised_share: 0.2 });
    expect(reportOf(store)).toContain('the best skill repeats something of 20 % of the training tasks');
  });

  it('of a step counts what is new; that of the best skill counts everything since the initial one', async () => {
    const script: Script = { analyst: ({ step }) => appends(`LEVEL=${step + 3} as in train-${step}`) };
    const { store } = await run(script, { batchSize: 5, minibatchSize: 5 });
    expect(stateOf(store).history.map(({ memorisedShare }) => memorisedShare)).toEqual([0.1, 0.1]);
    expect(stateOf(store).memorisedShare).toBe(0.2);
  });

  it('is 0 of a best skill that repeats nothing, which nobody has to read about', async () => {
    const { facts, store, summary } = await run({ analyst: () => appends('LEVEL=4') });
    expect(ofStage(facts, 'select')[0]).not.toHaveProperty('memorisedShare');
    expect(stateOf(store).history[0]).not.toHaveProperty('memorisedShare');
    expect(summary.memorisedShare).toBe(0);
    expect(reportOf(store).join('\n')).not.toContain('training tasks');
  });

  it('is unknown when the critic is off', async () => {
    const { facts, summary } = await run(memorising, { leakCritic: false });
    expect(ofType(facts, 'run-end')).toEqual([{ type: 'run-end' }]);
    expect(summary.memorisedShare).toBeNull();
  });

  it('is limited for reminders as for edits', async () => {
    const script: Script = { analyst: () => ({ ...appends('LEVEL=4'), appendix_notes: ['see train-1'] }) };
    const { facts } = await run(script, { useSkillAwareReflection: true, maxMemorisedShare: 0.05 });
    expect(ofStage(facts, 'update')[0]!.refused).toMatchObject([
      { reason: 'it repeats 10 % of the training items; at most 5 % are allowed' },
    ]);
  });
});
