import { join } from 'node:path';
import { setImmediate as tick } from 'node:timers/promises';
import { applyEdit, applyPatchWithReport, memoryRun, openaiCompatible, type RunEvent, type RunState } from 'skillopt';
import { adapterEnv, EnvAdapter, SplitDataLoader, scoreAnswer } from 'skillopt/envs';
import { startFakeLLM } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import {
  type Item,
  parseConfig,
  type ReflectContext,
  type RolloutManyContext,
} from '../../../src/core/contracts/index.ts';
import { MARKERS, readNotes } from '../../../src/core/document/index.ts';
import { protectedText } from '../../../src/core/document/protected-regions.ts';
import { skillHash } from '../../../src/core/text/index.ts';
import { scripted } from '../../../src/models/index.ts';
import { readConfigFile } from '../../../src/project/index.ts';
import { loadSkillOptConfig } from '../../../src/project/skillopt-config/load-skillopt-config.ts';
import { appends, byLevel, levelOf, ofStage, ofType, type Script, scriptedRun } from '../../support/scripted-run.ts';
import { tempFolder } from '../../support/temp-folder.ts';

// The defects of the reference implementation, by their numbers in its inventory. Not here, since there is nothing of ours
// for them to be about: 16 (tools of OfficeQA over the Responses API), 17 (which client SpreadsheetBench uses), 18 (its
// executor of generated code), of 21 what LiveMath and OfficeQA compare and how SearchQA keeps its turns, and 35.

type Options = Partial<Parameters<typeof scriptedRun>[0]>;

const SHORT = { numEpochs: 1, batchSize: 5, minibatchSize: 5, useSlowUpdate: false, useMetaSkill: false } as const;

const run = ({ config, ...options }: Options = {}) =>
  scriptedRun({ solves: byLevel, initialSkill: 'LEVEL=0\n', ...options, config: { ...SHORT, ...config } });

const levels = (...plan: number[]): Script => ({ analyst: ({ step }) => appends(`LEVEL=${plan[step - 1]}`) });

async function skillOptConfig(text: string) {
  using folder = tempFolder({ 'x.yaml': text });
  const file = join(folder.path, 'x.yaml');
  return await loadSkillOptConfig({ file, raw: await readConfigFile(file), overrides: [] });
}

const cutAfter = (store: { readonly events: readonly RunEvent[] }, isLast: (event: RunEvent) => boolean) =>
  store.events.slice(0, store.events.findIndex(isLast) + 1);

describe('defects of the reference', () => {
  it('#1 the section env of a config is not lost', async () => {
    const { input } = await skillOptConfig('env: { name: searchqa, my_knob: 7 }\ntrain: { batch_size: 5 }');
    expect(input).toMatchObject({ env: 'searchqa', batchSize: 5, extras: { my_knob: 7 } });
  });

  it('#2 a candidate is never scored with the rollouts of another', async () => {
    const proposing = (content: string) => ({
      reflect: async (_context: ReflectContext) => [
        {
          patch: { reasoning: '', edits: [{ op: 'append' as const, target: '', content }] },
          ...{ sourceType: 'failure' as const, batchSize: 5 },
        },
      ],
    });
    const store = memoryRun();
    await run({ store, hooks: proposing('LEVEL=9') });
    (store.events as RunEvent[]).length = cutAfter(store, (event) => event.type === 'step-start').length;
    const { facts, summary } = await run({ store, hooks: proposing('poison') });
    expect(ofStage(facts, 'evaluate')[0]).toMatchObject({ score: 0.1, action: 'reject' });
    expect(summary).toMatchObject({ bestSelectionHard: 0.1, testHard: 0.1 });
  });

  it('#2 a finished run is not made longer with the tests of its old skill', async () => {
    const { store } = await run({ script: levels(1, 2) });
    await expect(run({ store, script: levels(1, 2, 8, 9), config: { numEpochs: 2 } })).rejects.toMatchObject({
      code: 'RUN_MISMATCH',
    });
  });

  it('#3 a score of 0.0 is not missing on resume', async () => {
    const hopeless = { solves: (skill: string) => skill.includes('LEVEL=2'), script: levels(1, 2) };
    const whole = await run(hopeless);
    expect(whole.summary.baselineSelectionHard).toBe(0);
    const store = memoryRun(cutAfter(whole.store, (event) => event.type === 'step-end'));
    const { facts, rollouts } = await run({ ...hopeless, store });
    expect(ofType(facts, 'baseline-end')).toHaveLength(1);
    expect(
      rollouts.some(({ id, skill }) => id === 'val-0' && skill === 'LEVEL=0\n'),
      'measured anew',
    ).toBe(false);
    expect(facts).toEqual(whole.facts);
  });

  it.each([
    ['decided', { learning_rate: 0 }],
    ['not readable', { learning_rate: 'no idea' }],
    ['babble', undefined],
  ])('#4 a budget of 0 applies no edit (%s)', async (_name, reply) => {
    const { facts, calls } = await run({
      config: { lrControlMode: 'autonomous' },
      script: { ...levels(5, 6), lr_autonomous: () => reply },
    });
    expect(ofStage(facts, 'select').map(({ patch }) => patch.edits)).toEqual([[], []]);
    expect(ofType(facts, 'step-end').map(({ action }) => action)).toEqual(['skip_no_patches', 'skip_no_patches']);
    expect(calls.filter(({ stage }) => stage === 'ranking')).toEqual([]);
  });

  it('#5 lrControlMode none is no limit in patch mode, and neither is lrScheduler autonomous', async () => {
    const lines = Array.from({ length: 9 }, (_, k) => `rule ${k}`);
    for (const config of [{ lrControlMode: 'none' }, { lrScheduler: 'autonomous' }] as const) {
      const { facts, calls } = await run({ config, script: { analyst: () => appends(...lines) } });
      expect(ofStage(facts, 'select')[0]!.patch.edits).toHaveLength(9);
      expect(calls.filter(({ stage }) => stage === 'ranking')).toEqual([]);
    }
  });

  it('#6 forced guidance is measured: no stale score is the bar of later candidates', async () => {
    const { facts } = await run({
      config: { numEpochs: 3, batchSize: 10, useSlowUpdate: true, slowUpdateGate: false, gateMetric: 'mixed' },
      solves: (skill, { k }) => (levelOf(skill) - (skill.includes('HARM') ? 4 : 0) >= k ? 1 : 0),
      script: { ...levels(5, 6, 7), slow_update: ({ epoch }) => ({ slow_update_content: epoch === 2 ? 'HARM' : '' }) },
    });
    const [forced] = ofType(facts, 'slow-update-end');
    expect(forced).toMatchObject({ action: 'force_accept', score: 0.3, evaluation: { hard: 0.3, soft: 0.3 } });
    expect(ofStage(facts, 'evaluate').at(-1), 'below the old 0.7, above the new 0.3').toMatchObject({
      score: 0.4,
      action: 'accept',
    });
  });

  it('#7 reminders are part of what is measured, and the best skill has them', async () => {
    const { facts, summary, rollouts } = await run({
      config: { useSkillAwareReflection: true },
      script: { analyst: ({ step }) => ({ ...appends(`LEVEL=${step}`), appendix_notes: [`note ${step}`] }) },
    });
    expect(readNotes(summary.bestSkill)).toEqual(['note 1', 'note 2']);
    const measured = new Set(rollouts.filter(({ id }) => id === 'val-3').map(({ skill }) => skillHash(skill)));
    expect(measured).toContain(skillHash(summary.bestSkill));
    expect(measured, 'and the baseline is the skill that was brought').toContain(skillHash('LEVEL=0\n'));
    expect(ofStage(facts, 'update').map(({ candidateHash }) => measured.has(candidateHash))).toEqual([true, true]);
  });

  describe('#8 protected text is protected by code', () => {
    const block = `${MARKERS.slowUpdate.start}\nslow text\n${MARKERS.slowUpdate.end}`;
    const skill = `# S\n- a\n\n${block}\n`;

    it.each([
      { op: 'replace', target: `- a\n\n${MARKERS.slowUpdate.start}`, content: '- a' },
      { op: 'delete', target: `- a\n\n${block}` },
      { op: 'replace', target: 'slow text', content: 'fast text' },
      { op: 'append', content: MARKERS.slowUpdate.end },
    ])('from an edit: $op $target', (edit) => {
      expect(protectedText(applyEdit(skill, edit))).toEqual(protectedText(skill));
    });

    it('from a rewrite', async () => {
      const { summary } = await run({
        initialSkill: skill,
        config: { skillUpdateMode: 'full_rewrite_minibatch' },
        script: { analyst: () => ({ patch: { skill_candidates: [{ new_skill: 'LEVEL=4' }] } }) },
      });
      expect(summary.bestSkill).toBe(`LEVEL=4\n\n${block}\n`);
    });
  });

  it('#9 an insertion lands after its target also when that ends in a newline, and a lost target is said', () => {
    const edit = (target: string) => ({
      edits: [{ op: 'insert_after' as const, target, content: '- ins' }],
      reasoning: '',
    });
    const skill = '# S\n- a\n- b\n';
    expect(applyPatchWithReport(skill, edit('- a\n')).skill).toBe('# S\n- a\n\n- ins\n- b\n');
    expect(applyPatchWithReport(skill, edit('- a\n')).skill).toBe(applyPatchWithReport(skill, edit('- a')).skill);
    const [row] = applyPatchWithReport(skill, edit('missing')).report;
    expect(row!.status).toBe('applied_insert_after_fallback_append');
  });

  it('#10 the order in which calls return changes nothing', async () => {
    const slowly = async (turns: number) => {
      for (let turn = 0; turn < turns; turn++) await tick();
    };
    const at = (workers: number, delay: (k: number) => number) =>
      run({
        config: { workers, numEpochs: 2, minibatchSize: 1, mergeBatchSize: 2 },
        hooks: {
          async rolloutOne({ item, skill }) {
            await slowly(delay(item.k));
            const hard = byLevel(skill, item) ? 1 : 0;
            return { hard, soft: hard, conversation: [{ content: item.id }] };
          },
        },
        script: {
          analyst: async ({ user, step }) => {
            const [id] = /train-\d/.exec(user)!;
            await slowly(delay(Number(id.at(-1))));
            return appends(`LEVEL=${step}`, `rule of ${id}`);
          },
          merge: () => undefined,
          ranking: () => undefined,
        },
      });
    const [alone, early, late] = [await at(1, () => 0), await at(8, (k) => k), await at(8, (k) => 10 - k)];
    expect(early.facts.slice(1)).toEqual(alone.facts.slice(1));
    expect(late.facts.slice(1)).toEqual(alone.facts.slice(1));
  });

  it('#11 budgets do not depend on skipped steps or on a resume, and skipped steps are remembered', async () => {
    const options: Options = {
      config: { batchSize: 3, editBudget: 9, minEditBudget: 1, lrScheduler: 'linear' },
      script: { analyst: ({ user }) => (user.includes('train-6') ? { patch: { edits: [] } } : appends('Try.')) },
    };
    const whole = await run(options);
    expect(ofType(whole.facts, 'step-end')[0]!.action).toBe('skip_no_patches');
    expect(ofType(whole.facts, 'step-start').map(({ editBudget }) => editBudget)).toEqual([7, 5, 3, 1]);
    const rest = await run({ ...options, store: memoryRun(cutAfter(whole.store, ({ type }) => type === 'step-end')) });
    expect(rest.facts).toEqual(whole.facts);
    expect(rest.calls[0]!.user).toContain('step 1: SKIP_NO_PATCHES');
  });

  it('#12 a description belongs to the tasks that it was given for, not to a place in a list', async () => {
    const states: RunState[] = [];
    const onEvent = (event: RunEvent, state: RunState) => event.type === 'step-end' && states.push(state);
    await run({
      failReason: ({ k }) => (k % 2 === 0 ? 'even: x' : 'odd: y'),
      options: { observers: [{ onEvent }] },
      script: {
        analyst: () => ({
          failure_summary: [
            { failure_type: 'lonely', description: 'only this one', task_ids: ['train-7', 'not-read'] },
          ],
          patch: { edits: [] },
        }),
      },
    });
    expect(states[0]!.stepBuffer[0]!.failurePatterns).toEqual([
      { type: 'even', count: 2, taskIds: ['train-6', 'train-4'] },
      { type: 'odd', count: 2, taskIds: ['train-1', 'train-9'] },
      { type: 'lonely', count: 1, taskIds: ['train-7'], description: 'only this one' },
    ]);
  });

  it('#13 notes are carried over, not made for nobody, and made from trajectories after a resume too', async () => {
    const options: Options = {
      config: { numEpochs: 4, batchSize: 10, useSlowUpdate: true, useMetaSkill: true },
      script: {
        ...levels(1, 2, 3, 4),
        meta_skill: ({ user }) => ({ meta_skill_content: user.includes('What has helped') ? '' : 'short rules help' }),
      },
    };
    const whole = await run(options);
    const written = ofType(whole.facts, 'meta-skill-end');
    expect(written.map(({ epoch, action }) => [epoch, action])).toEqual([
      [2, 'write_meta_skill'],
      [3, 'no_content'],
    ]);
    const last = whole.calls.filter(({ stage }) => stage === 'analyst').at(-1)!;
    expect(last.user).toContain('short rules help');
    const store = memoryRun(cutAfter(whole.store, (event) => event.type === 'slow-update-end'));
    const rest = await run({ ...options, store });
    const asked = (calls: typeof whole.calls) => calls.find(({ stage }) => stage === 'meta_skill')!.user;
    expect(asked(rest.calls)).toBe(asked(whole.calls));
    expect(asked(rest.calls)).toContain('conversation:');
  });

  it('#14 the summary of a resumed run has its baseline, its hard score is hard, and every step is counted', async () => {
    const options: Options = {
      config: { gateMetric: 'mixed', skillUpdateMode: 'rewrite_from_suggestions' },
      hooks: {
        rolloutOne: async ({ item, skill }) => ({ hard: byLevel(skill, item) ? 1 : 0, soft: 0.5 }),
      },
      script: {
        analyst: () => ({ patch: { revise_suggestions: [{ title: 't', instruction: 'i' }] } }),
        rewrite: ({ user }) => ({ new_skill: user.includes('LEVEL=3') ? '' : 'LEVEL=3' }),
      },
    };
    const { store } = await run(options);
    const { summary } = await run({ ...options, store: memoryRun(store.events.slice(0, 12)) });
    expect(summary).toMatchObject({ baselineSelectionHard: 0.1, bestSelectionHard: 0.4, bestSelectionScore: 0.45 });
    expect(summary).toMatchObject({ totalSteps: 2, totalAccepts: 1, totalSkips: 1, version: expect.any(String) });
  });

  it('#15 a blank key of a role leaves the shared thinking mode in force', async () => {
    const { input } = await skillOptConfig(
      'model: { backend: qwen, target: q, qwen_chat_thinking_mode: disabled, target_qwen_chat_thinking_mode: "" }',
    );
    expect(input.target).toMatchObject({ thinkingMode: 'disabled' });
  });

  it('#19 a split by ratio takes a folder of data, and no path at all is an error', async () => {
    using folder = tempFolder({ 'data/all.json': JSON.stringify(Array.from({ length: 10 }, (_, id) => ({ id }))) });
    const loader = new SplitDataLoader({ dataPath: join(folder.path, 'data') });
    await loader.setup({ extras: {} });
    expect(['train', 'val', 'test'].map((split) => loader.getItems(split).length)).toEqual([2, 1, 7]);
    await expect(new SplitDataLoader({ dataPath: '' }).setup({ extras: {} })).rejects.toThrow();
  });

  it('#20 a simulator can be measured on several splits at once', async () => {
    class Games extends EnvAdapter<number> {
      override readonly episodes = { train: 2, val: 3, test: 2 };
      buildTrainEnv = (count: number) => count;
      buildEvalEnv = (count: number) => count;
      rollout = async (count: number) => Array.from({ length: count }, (_, id) => ({ id, hard: 1, soft: 1 }));
      getTaskTypes = () => ['game'];
    }
    const env = adapterEnv(new Games(), { name: 'games' });
    await env.setup(parseConfig({}));
    const items = [...(await env.getItems('val')), ...(await env.getItems('test'))];
    const context = { items, skill: '', target: scripted('t', () => ''), extras: {}, phase: 'eval', sampleIndex: 0 };
    const signal = new AbortController().signal;
    const results = await env.rolloutMany({ ...context, signal } as unknown as RolloutManyContext<Item>);
    expect(results.map(({ id }) => id)).toEqual(items.map(({ id }) => id));
  });

  it.each(['(B)', '**B**', 'b.', ' B '])('#21 an answer may be dressed up: %s is B', (answer) => {
    expect(scoreAnswer(answer, ['B']).hard).toBe(1);
  });

  it('#22 no provider cuts the length of a reply that a stage asks for', async () => {
    await using server = await startFakeLLM(['{}', '{}']);
    const model = openaiCompatible({ baseURL: server.baseURL, apiKey: 'dummy', model: 'm' });
    for (const maxOutputTokens of [16_384, 64_000]) {
      await model.complete({ messages: [{ role: 'user', content: 'x' }], maxOutputTokens });
    }
    expect(server.requests.map((request) => request.max_tokens)).toEqual([16_384, 64_000]);
  });

  it('#23 two trainers in one process do not disturb each other', async () => {
    const aware: Options = {
      config: { useSkillAwareReflection: true, seed: 1 },
      script: { analyst: ({ step }) => ({ ...appends(`LEVEL=${step}`), appendix_notes: [`note ${step}`] }) },
    };
    const plain: Options = {
      config: { lrControlMode: 'none', seed: 2, gateMetric: 'soft' },
      script: { analyst: ({ step }) => ({ ...appends(`LEVEL=${step + 3}`), appendix_notes: ['not wanted'] }) },
    };
    const [first, second] = [await run(aware), await run(plain)];
    const together = await Promise.all([run(aware), run(plain), run(aware)]);
    expect(together.map(({ facts }) => facts)).toEqual([first.facts, second.facts, first.facts]);
    expect(second.summary.bestSkill).not.toContain('not wanted');
  });
});
