import { memoryRun, type RolloutResult, type SkillOptConfigInput } from 'skillopt';
import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../../../src/core/contracts/index.ts';
import { joinPackage, splitPackage } from '../../../../src/core/document/index.ts';
import { emptyRun, listEdits, reduce } from '../../../../src/core/run/index.ts';
import { reportLines } from '../../../../src/report/index.ts';
import { noColors } from '../../../../src/report/layout.ts';
import { expectEvery } from '../../../support/expect-every.ts';
import { levelOf, ofStage, ofType, type Script, scriptedRun, type Task } from '../../../support/scripted-run.ts';

const SKILL = '---\nname: levels\ndescription: Solves levels.\n---\n\n# Levels\n\nSee references/levels.md.\n';
const FILES = { 'SKILL.md': SKILL, 'references/levels.md': '# Levels\n\nLEVEL=0\n', 'scripts/run.sh': 'echo 1\n' };
const initialSkill = joinPackage(FILES);

/** A task is solved by what the reference says, and by nothing else. */
const byReference = (skill: string, { k }: Task) => levelOf(splitPackage(skill)['references/levels.md'] ?? '') >= k;
const proposes = (...edits: object[]): Script => ({ analyst: () => ({ patch: { reasoning: '', edits } }) });
const one: SkillOptConfigInput = { numEpochs: 1, batchSize: 10, evalTest: false, finalPasses: 0 };
const world = { solves: byReference, initialSkill, sizes: { train: 4, val: 4 } };
const reference = (content: string) => ({ op: 'append', file: 'references/levels.md', content });

describe('a run that trains references', () => {
  const config: SkillOptConfigInput = { ...one, parts: ['body', 'references'] };

  it('changes the file that an edit names, and scores the whole package', async () => {
    const { facts, store, summary } = await scriptedRun({ ...world, config, script: proposes(reference('LEVEL=9')) });
    const best = splitPackage(store.views['best_skill.md']!);
    expect(best).toEqual({ ...FILES, 'references/levels.md': '# Levels\n\nLEVEL=0\n\nLEVEL=9\n' });
    expect(summary.bestSelectionHard).toBe(1);
    expect(ofType(facts, 'step-end').map(({ action }) => action)).toEqual(['accept_new_best']);
    expect(ofStage(facts, 'update')[0]!.report[0]).toMatchObject({
      file: 'references/levels.md',
      status: 'applied_append',
    });
  });

  it('shows the best package as a folder, without what is gone', async () => {
    const gone = { op: 'delete_file', file: 'references/old.md' };
    const files = { ...FILES, 'references/old.md': 'old\n' };
    const { store } = await scriptedRun({
      ...world,
      initialSkill: joinPackage(files),
      config,
      script: proposes(reference('LEVEL=9'), gone),
    });
    const shown = Object.keys(store.views).filter((name) => name.startsWith('best_skill/'));
    expect(shown.sort()).toEqual([
      'best_skill/SKILL.md',
      'best_skill/references/levels.md',
      'best_skill/scripts/run.sh',
    ]);
  });

  it('says to the optimizer what a package is and which files may change; others read nothing of it', async () => {
    const { calls } = await scriptedRun({ ...world, config, script: proposes(reference('LEVEL=9')) });
    const [analyst] = calls.filter(({ stage }) => stage === 'analyst');
    expect(analyst!.user).toContain('- references/levels.md: may be changed\n- scripts/run.sh: may not be changed');
    const plain = await scriptedRun({ ...world, config: one, script: proposes({ op: 'append', content: 'x' }) });
    expectEvery(plain.calls, ({ user }) => !user.includes('What may be changed'));
  });

  it('leaves scripts alone, and says so', async () => {
    const script = proposes({ op: 'append', file: 'scripts/run.sh', content: 'echo 2' });
    const { facts, rollouts } = await scriptedRun({ ...world, config, script });
    expect(ofStage(facts, 'update')[0]!.report[0]).toMatchObject({ file: 'scripts/run.sh', status: 'skipped_part' });
    expect(new Set(rollouts.map(({ skill }) => skill))).toEqual(new Set([initialSkill]));
  });

  it('counts only SKILL.md against the longest skill', async () => {
    const long = reference(`LEVEL=9 ${'word '.repeat(500)}`);
    const { summary } = await scriptedRun({
      ...world,
      config: { ...config, maxSkillTokens: 100 },
      script: proposes(long),
    });
    expect(summary.bestSelectionHard).toBe(1);
  });

  it('ends the same after a resume from every event', async () => {
    const run = { ...world, config, script: proposes(reference('LEVEL=9')) };
    const whole = await scriptedRun(run);
    for (const cut of [3, 6, 8]) {
      const again = await scriptedRun({ ...run, store: memoryRun(whole.store.events.slice(0, cut)) });
      expect(again.facts).toEqual(whole.facts);
    }
  });
});

describe('a candidate that nobody could use', () => {
  const tooLong = { op: 'replace', target: 'Solves levels.', content: `${'x'.repeat(1_025)}` };
  const broken = { op: 'append', file: 'scripts/run.sh', content: 'if then' };
  const hooks = {
    checkSkill: (skill: string) => (skill.includes('if then') ? 'scripts/run.sh does not parse' : undefined),
  };
  const cases = [
    [
      'a description of 1,025 characters',
      ['description'],
      SKILL,
      tooLong,
      /description: expected 1 to 1024 characters, got 1025/,
    ],
    ['a broken script', ['scripts'], initialSkill, broken, /scripts\/run.sh does not parse/],
  ] as const;

  it.each(cases)('is not measured: %s', async (_name, parts, skill, edit, reason) => {
    const config: SkillOptConfigInput = { ...one, parts: [...parts], proposalsPerBatch: 1 };
    const run = await scriptedRun({
      ...world,
      solves: () => false,
      hooks,
      initialSkill: skill,
      config,
      script: proposes(edit),
    });
    expect(new Set(run.rollouts.map((rollout) => rollout.skill))).toEqual(new Set([skill]));
    expect(ofType(run.facts, 'step-end')[0]!.action).toBe('skip_invalid');
    expect(ofStage(run.facts, 'evaluate')[0]).toMatchObject({
      evaluation: null,
      invalidReason: expect.stringMatching(reason),
    });
    const [record] = JSON.parse(run.store.views['history.json']!);
    expect(record).toMatchObject({ verdict: 'invalid', verdict_reason: expect.stringMatching(reason) });
  });

  it('is told to the next step, with the reason', async () => {
    const config: SkillOptConfigInput = { ...one, parts: ['scripts'], proposalsPerBatch: 2 };
    const { calls } = await scriptedRun({ ...world, solves: () => false, hooks, config, script: proposes(broken) });
    const second = calls.filter(({ stage, step }) => stage === 'analyst' && step === 2);
    expect(second[0]!.user).toContain(
      'not measured, since it would be no valid skill: scripts/run.sh does not parse\nmade by:\n  1. {"op":"append","file":"scripts/run.sh","content":"if then"}',
    );
    expect(second[0]!.user).not.toContain('had the same fault');
  });

  it('with the same fault as another is told as such, with no more of a long text than its beginning', async () => {
    let length = 1_024;
    const grows = () => ({ ...tooLong, content: 'x'.repeat(++length) });
    const script: Script = { analyst: () => ({ patch: { reasoning: '', edits: [grows()] } }) };
    const config: SkillOptConfigInput = { ...one, parts: ['description'], proposalsPerBatch: 3 };
    const { calls } = await scriptedRun({ ...world, solves: () => false, initialSkill: SKILL, config, script });
    const third = calls.find(({ stage, step }) => stage === 'analyst' && step === 3)!.user;
    expect(third).toMatch(/^steps 1, 2 had the same fault: .*description: expected 1 to 1024 characters.*\. With it/m);
    expect(third).toMatch(/"content":"x{400}… \(\d+ characters\)"/);
  });

  it('is reported as not scored, apart from what was tried', async () => {
    const better = { op: 'append', file: 'references/levels.md', content: 'More.' };
    const script: Script = {
      analyst: ({ step }) => ({ patch: { reasoning: '', edits: step === 3 ? [better] : [broken] } }),
    };
    const config: SkillOptConfigInput = { ...one, parts: ['scripts', 'references'], proposalsPerBatch: 3 };
    const { store } = await scriptedRun({ ...world, solves: (_, { k }) => k % 2 === 0, hooks, config, script });
    const state = store.events.reduce(reduce, emptyRun);
    expect(listEdits(state).map(({ fate }) => fate)).toEqual(['invalid', 'invalid', 'rejected']);
    const options = { run: 'run', bestSkillPath: 'best_skill.md', width: 200, colors: noColors };
    const report = reportLines(state, options).join('\n');
    expect(report).toMatch(
      /the one edit that was tried did not make it better for sure; 2 edits not scored: invalid\./,
    );
    expect(report).toContain('steps 1, 2 not scored: invalid, scripts/run.sh does not parse');
    const all = reportLines(state, { ...options, isComplete: true }).join('\n');
    expect(all).toMatch(/^rejected edits \(1\)[\s\S]*^invalid edits \(2\): not scored$/m);
  });

  it('does not come of an edit with a bad path: that changes nothing', async () => {
    const edit = { op: 'create_file', file: '../out.md', content: 'x' };
    const config: SkillOptConfigInput = { ...one, parts: ['references'] };
    const run = await scriptedRun({ ...world, config, script: proposes(edit) });
    expect(ofStage(run.facts, 'update')[0]!.report[0]!.status).toBe('skipped_path');
    expect(ofType(run.facts, 'step-end')[0]!.action).toBe('unchanged');
    expect(new Set(run.rollouts.map(({ skill }) => skill))).toEqual(new Set([initialSkill]));
  });

  it('is measured where its parent has the same fault', async () => {
    const skill = joinPackage({ ...FILES, 'SKILL.md': '# No frontmatter\n' });
    const config: SkillOptConfigInput = { ...one, parts: ['references'] };
    const run = await scriptedRun({ ...world, initialSkill: skill, config, script: proposes(reference('LEVEL=9')) });
    expect(run.summary.bestSelectionHard).toBe(1);
  });
});

describe('a run that trains the description', () => {
  const named = (skill: string) => /description: .*levels of towers/.test(skill);
  const replace = { op: 'replace', target: 'Solves levels', content: 'Solves levels of towers' };

  it('changes it alone, in turns with the body', async () => {
    const edits = [replace, { op: 'append', content: 'More body.' }];
    const config: SkillOptConfigInput = { ...one, numEpochs: 2, parts: ['body', 'description'], proposalsPerBatch: 1 };
    const run = { solves: named, initialSkill: SKILL, sizes: { train: 4, val: 4 }, config };
    const { facts, store } = await scriptedRun({ ...run, script: proposes(...edits) });
    const [first, second] = ofStage(facts, 'update').map(({ report }) => report.map(({ status }) => status));
    expect(first).toEqual(['skipped_protected_region', 'applied_append']);
    expect(second).toEqual(['applied_replace', 'applied_append']);
    expect(store.views['best_skill.md']).toBe(SKILL.replace('Solves levels.', 'Solves levels of towers. More body.'));
  });

  it('learns from attempts in which the skill was not read', async () => {
    const unread: Partial<RolloutResult> = { skillUnread: true };
    const hooks = {
      rolloutOne: async ({ skill }: { skill: string }) => ({ hard: Number(named(skill)), soft: 0, ...unread }),
    };
    const run = { solves: named, initialSkill: SKILL, sizes: { train: 4, val: 4 }, hooks, script: proposes(replace) };
    const { summary } = await scriptedRun({ ...run, config: { ...one, parts: ['description'] } });
    expect(summary.bestSelectionHard).toBe(1);
    const body = await scriptedRun({ ...run, config: one });
    expect(body.calls.filter(({ stage }) => stage === 'analyst')).toEqual([]);
  });
});

describe('one budget for the package', () => {
  it('pays for a script three times', async () => {
    const edits = [1, 2].map((count) => ({ op: 'append', file: 'scripts/run.sh', content: `echo ${count}` }));
    const config: SkillOptConfigInput = { ...one, parts: ['scripts', 'references'], editBudget: 4 };
    const { facts } = await scriptedRun({ ...world, config, script: proposes(...edits, reference('LEVEL=9')) });
    const applied = ofStage(facts, 'update')[0]!.report.map(({ file, status }) => [file, status]);
    expect(applied).toEqual([
      ['scripts/run.sh', 'applied_append'],
      ['references/levels.md', 'applied_append'],
    ]);
  });
});

describe('parts', () => {
  const identityOf = (facts: Awaited<ReturnType<typeof scriptedRun>>['facts']) =>
    ofType(facts, 'run-start')[0]!.identity;

  it('are no part of a run where they are the default', async () => {
    const plain = await scriptedRun({ ...world, config: one });
    const named = await scriptedRun({ ...world, config: { ...one, parts: ['body'] } });
    expect(identityOf(named.facts)).toEqual(identityOf(plain.facts));
    expect(Object.keys(identityOf(plain.facts))).not.toContain('parts');
    const more = await scriptedRun({ ...world, config: { ...one, parts: ['references'] } });
    expect(identityOf(more.facts)).toMatchObject({ parts: '["references"]', 'prompt package': expect.any(String) });
  });

  it.each([
    ['skillUpdateMode', { skillUpdateMode: 'full_rewrite_minibatch' }],
    ['useSlowUpdate', { useSlowUpdate: true }],
    ['useSkillAwareReflection', { useSkillAwareReflection: true }],
  ] as const)('beyond the body are refused together with %s', (key, input) => {
    expect(() => parseConfig({ ...input, parts: ['references'] })).toThrow(new RegExp(`${key}: .*parts: \\[body\\]`));
    expect(parseConfig({ ...input, parts: ['body'] })[key]).toBe(Object.values(input)[0]);
  });
});
