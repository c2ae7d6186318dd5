import type { SkillOptConfigInput } from 'skillopt';
import { describe, expect, it } from 'vitest';
import { MARKERS } from '../../../../src/core/document/index.ts';
import { HIDDEN } from '../../../../src/core/text/json.ts';
import { appends, byLevel, ofStage, ofType, type Script, scriptedRun } from '../../../support/scripted-run.ts';

const run = (script: Script, config: SkillOptConfigInput = {}, initialSkill = '# Skill\n') =>
  scriptedRun({
    solves: byLevel,
    initialSkill,
    script,
    config: { numEpochs: 1, batchSize: 10, minibatchSize: 10, failureOnly: true, ...config },
  });

const suggestions = () => ({ patch: { revise_suggestions: [{ title: 'level', instruction: 'write it' }] } });
const HIDING = [
  ['a comment', 'LEVEL=3 <!-- do as I say -->', 'skipped_html_comment'],
  ['a character', 'LEVEL=3\u200b', 'skipped_hidden_character'],
] as const;

describe('whatever a model writes into the skill', () => {
  it.each(HIDING)('has a status of its own when it hides %s in an edit', async (_, content, status) => {
    const { facts, summary, store } = await run({ analyst: () => appends(content) });
    expect(ofStage(facts, 'update')[0]!.report[0]!.status).toBe(status);
    expect(ofType(facts, 'step-end')[0]!.action).toBe('unchanged');
    expect(summary.bestSkill).toBe('# Skill\n');
    expect(JSON.parse(store.views['steps/step_0001/edit_apply_report.json']!)[0].status).toBe(status);
  });

  it('is escaped in the files about a step, and reads back as it was', async () => {
    const content = 'LEVEL=3\u200b \u202e \u001b[2J';
    const { store } = await run({ analyst: () => appends(content) });
    const files = Object.entries(store.views).filter(([name]) => /(patch|patches|report)\.json$/.test(name));
    expect(files.filter(([, text]) => new RegExp(HIDDEN).test(text))).toEqual([]);
    const [row] = JSON.parse(store.views['steps/step_0001/edit_apply_report.json']!);
    expect(row.content_preview).toBe(content);
  });

  it.each(HIDING)('has it when it hides %s in a rewrite', async (_, new_skill, status) => {
    const config = { skillUpdateMode: 'rewrite_from_suggestions' } as const;
    const { facts, summary } = await run({ analyst: suggestions, rewrite: () => ({ new_skill }) }, config);
    expect(ofStage(facts, 'update')[0]!.report[0]!.status).toBe(status);
    expect(ofType(facts, 'step-end')[0]!.action).toBe('skip_no_rewrite');
    expect(summary.bestSkill).toBe('# Skill\n');
  });

  it.each(HIDING)('has it when it hides %s in a whole document; another may be taken', async (_, new_skill, status) => {
    const patch = {
      skill_candidates: [
        { title: 'one', new_skill },
        { title: 'two', new_skill: 'LEVEL=4' },
      ],
    };
    const config = { skillUpdateMode: 'full_rewrite_minibatch', minibatchSize: 5 } as const;
    const { facts, summary } = await run({ analyst: () => ({ patch }), merge: () => patch }, config);
    expect(ofStage(facts, 'update')[0]!.report.map((row) => row.status)).toEqual([status, 'applied_rewrite']);
    expect(summary.bestSkill).toBe('LEVEL=4\n');
  });

  it('may keep in a rewrite what its author hid', async () => {
    const skill = '# Skill\n<!-- licence -->\n';
    const config = { skillUpdateMode: 'rewrite_from_suggestions' } as const;
    const rewrite = () => ({ new_skill: '<!-- licence -->\nLEVEL=3' });
    expect((await run({ analyst: suggestions, rewrite }, config, skill)).summary.bestSkill).toContain('LEVEL=3');
  });

  const epochs = { numEpochs: 2, useSlowUpdate: true, useMetaSkill: false, slowUpdateGate: false } as const;
  const upward: Script = { analyst: ({ step }) => appends(`LEVEL=${step}`) };

  it.each(HIDING)('is refused when it hides %s in guidance', async (_, slow_update_content) => {
    const { facts, summary } = await run({ ...upward, slow_update: () => ({ slow_update_content }) }, epochs);
    const [update] = ofType(facts, 'slow-update-end');
    expect(update).toMatchObject({ action: 'hidden_text', hidden: expect.stringMatching(/^(<!--|U\+200B)/) });
    expect(summary.bestSkill).not.toContain(MARKERS.slowUpdate.start);
  });

  it('is written as guidance without the markers that a model copied', async () => {
    const slow_update_content = `${MARKERS.slowUpdate.start}\nLook twice. 👩‍💻\n${MARKERS.slowUpdate.end}`;
    const { facts } = await run({ ...upward, slow_update: () => ({ slow_update_content }) }, epochs);
    const [update] = ofType(facts, 'slow-update-end');
    expect(update!.candidateSkill).toContain(
      `${MARKERS.slowUpdate.start}\nLook twice. 👩‍💻\n${MARKERS.slowUpdate.end}`,
    );
  });

  it('leaves out reminders that hide something, and counts them', async () => {
    const reminders = { appendix_notes: ['look twice', 'obey <!-- me -->', 'obey\u202e me'] };
    const script = { analyst: () => ({ ...appends('LEVEL=2'), ...reminders }) };
    const { facts, summary } = await run(script, { useSkillAwareReflection: true });
    expect(ofStage(facts, 'update')[0]!.notes).toEqual({ added: 1, total: 1, consolidated: false, hidden: 2 });
    expect(summary.bestSkill).toContain('- look twice');
    expect(summary.bestSkill).not.toContain('obey');
  });
});

describe('guidance', () => {
  it('is written at the end of a document whose block was never closed, which keeps every line', async () => {
    const broken = `# Skill\n${MARKERS.slowUpdate.start}\nold guidance\n\n## Rules of the house\n- never lose this\n`;
    const script: Script = { slow_update: () => ({ slow_update_content: 'new guidance' }) };
    const config = { numEpochs: 2, useSlowUpdate: true, slowUpdateGate: false } as const;
    const { facts } = await run(script, config, broken);
    const block = `${MARKERS.slowUpdate.start}\nnew guidance\n${MARKERS.slowUpdate.end}\n`;
    expect(ofType(facts, 'slow-update-end')[0]!.candidateSkill).toBe(`${broken}\n${block}`);
  });
});
