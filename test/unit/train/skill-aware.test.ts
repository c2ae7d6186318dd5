import type { SkillOptConfigInput } from 'skillopt';
import { describe, expect, it } from 'vitest';
import { MARKERS, mergeNotes, readNotes, writeNotes } from '../../../src/core/document/index.ts';
import { expectEvery } from '../../support/expect-every.ts';
import { appends, byLevel, ofStage, ofType, type Script, scriptedRun } from '../../support/scripted-run.ts';

const config: SkillOptConfigInput = {
  numEpochs: 1,
  batchSize: 5,
  minibatchSize: 5,
  useSkillAwareReflection: true,
  useMetaSkill: false,
};

const run = (script: Script, more: SkillOptConfigInput = {}) =>
  scriptedRun({ solves: byLevel, initialSkill: '# Skill\n\nLEVEL=2\n', script, config: { ...config, ...more } });

const said = (level: number, ...appendix_notes: unknown[]) => ({ ...appends(`LEVEL=${level}`), appendix_notes });

describe('skill-aware reflection', () => {
  it('asks analysts to tell defects from lapses, and puts the lapses into the protected appendix', async () => {
    const { calls, summary } = await run({ analyst: ({ step }) => said(step + 2, `look twice in step ${step}`) });
    expect(new Set(calls.filter(({ stage }) => stage === 'analyst').map(({ prompt }) => prompt))).toEqual(
      new Set(['analyst_error+skill_aware_failure', 'analyst_success+skill_aware_success']),
    );
    expect(summary.bestSkill.slice(summary.bestSkill.indexOf(MARKERS.appendix.start))).toBe(
      [
        MARKERS.appendix.start,
        '## Reminders',
        '- look twice in step 1',
        '- look twice in step 2',
        `${MARKERS.appendix.end}\n`,
      ].join('\n'),
    );
    expect(summary.bestSkill.split(MARKERS.appendix.start)).toHaveLength(2);
  });

  it('says nothing of it when it is off, and then takes no notes', async () => {
    const { calls, summary } = await run({ analyst: () => said(5, 'a note') }, { useSkillAwareReflection: false });
    expectEvery(calls, ({ prompt }) => !prompt.includes('skill_aware'));
    expect(summary.bestSkill).not.toContain('a note');
  });

  it('hears failures alone with failure_only', async () => {
    const { calls, summary } = await run(
      { analyst: ({ prompt, step }) => said(step + 2, `note of ${prompt}`) },
      { skillAwareAppendixSource: 'failure_only' },
    );
    const prompts = new Set(calls.filter(({ stage }) => stage === 'analyst').map(({ prompt }) => prompt));
    expect(prompts).toEqual(new Set(['analyst_error+skill_aware_failure', 'analyst_success']));
    expect(readNotes(summary.bestSkill)).toEqual(['note of analyst_error+skill_aware_failure']);
  });

  it('leaves whole rewrites alone', async () => {
    const { calls } = await run(
      { analyst: () => ({ patch: { skill_candidates: [{ new_skill: 'LEVEL=3' }] } }) },
      { skillUpdateMode: 'full_rewrite_minibatch' },
    );
    expectEvery(calls, ({ prompt }) => !prompt.includes('skill_aware'));
  });

  it('keeps no notes of a step that is rejected', async () => {
    const { facts, summary, store } = await run({ analyst: ({ step }) => said(step === 1 ? 1 : 4, `note ${step}`) });
    expect(ofType(facts, 'step-end').map(({ action }) => action)).toEqual(['reject', 'accept_new_best']);
    expect(readNotes(summary.bestSkill)).toEqual(['note 2']);
    expect(store.views['skills/skill_v0001.md']).not.toContain('note 1');
  });

  it('measures notes without edits like anything else', async () => {
    const { facts } = await run({ analyst: () => ({ appendix_notes: ['look twice'] }) });
    const [update] = ofStage(facts, 'update');
    expect(update).toMatchObject({ report: [], notes: { added: 1, total: 1, consolidated: false } });
    expect(ofStage(facts, 'evaluate')[0]).toMatchObject({ action: 'reject', score: 0.3 });
  });

  it('takes a list, one text, or objects with a note', async () => {
    const shapes: unknown[] = ['one text', [{ note: 'a note' }, { content: 'a content' }, 7, null]];
    const { summary } = await run({
      analyst: ({ step }) => ({ ...appends(`LEVEL=${step + 2}`), appendix_notes: shapes[step - 1] }),
    });
    expect(readNotes(summary.bestSkill)).toEqual(['one text', 'a note', 'a content']);
  });

  it('says each note once: case, spacing and last stops do not matter', () => {
    const notes = ['Note One.', '  note   two ', '', 'NOTE ONE', 'note two;'];
    expect(mergeNotes([], notes)).toEqual(['Note One.', 'note two']);
    const skill = writeNotes('# S\n', notes);
    expect(readNotes(skill)).toEqual(['Note One.', 'note two']);
    expect(mergeNotes(readNotes(skill), ['note one!', 'Note two.'])).toEqual(['Note One.', 'note two', 'note one!']);
  });

  it('makes no new candidate of notes that are known', async () => {
    const { facts } = await run({
      analyst: ({ step }) => (step === 1 ? said(4, 'look twice') : { appendix_notes: ['Look  twice.'] }),
    });
    expect(ofType(facts, 'step-end').map(({ action }) => action)).toEqual(['accept_new_best', 'skip_no_patches']);
  });
});

describe('the consolidation of notes', () => {
  const many: Script = { analyst: ({ step }) => said(step + 2, `first of ${step}`, `second of ${step}`) };
  const consolidating = (notes: unknown) =>
    run({ ...many, appendix_consolidate: () => notes }, { skillAwareConsolidateThreshold: 3 });

  it('happens above the threshold, and is taken when it is shorter', async () => {
    const { facts, calls, summary } = await consolidating({ notes: ['first and second'] });
    expect(calls.filter(({ stage }) => stage === 'appendix_consolidate').map(({ step }) => step)).toEqual([2]);
    expect(readNotes(summary.bestSkill)).toEqual(['first and second']);
    expect(ofStage(facts, 'update').map(({ notes }) => notes)).toEqual([
      { added: 2, total: 2, consolidated: false },
      { added: 2, total: 1, consolidated: true },
    ]);
  });

  it.each([
    ['as long', { notes: ['a', 'b', 'c', 'd'] }],
    ['empty', { notes: [] }],
    ['all blanks', { notes: [' ', ''] }],
    ['babble', undefined],
  ])('is not taken when it is %s', async (_name, reply) => {
    const { summary } = await consolidating(reply);
    expect(readNotes(summary.bestSkill)).toEqual(['first of 1', 'second of 1', 'first of 2', 'second of 2']);
  });

  it('never happens without a threshold', async () => {
    const { calls } = await run(many);
    expectEvery(calls, ({ stage }) => stage !== 'appendix_consolidate');
  });
});
