import { memoryRun, type SkillOptConfigInput } from 'skillopt';
import { describe, expect, it } from 'vitest';
import { MARKERS } from '../../../src/core/document/index.ts';
import { expectEvery } from '../../support/expect-every.ts';
import { appends, levelOf, ofType, type Script, scriptedRun, type Task } from '../../support/scripted-run.ts';

const BLOCK_START = MARKERS.slowUpdate.start;
const config: SkillOptConfigInput = {
  numEpochs: 2,
  batchSize: 10,
  minibatchSize: 10,
  useSlowUpdate: true,
  useMetaSkill: false,
  slowUpdateSamples: 10,
};

/** Validation follows the level. Of four training tasks, one gets better at level 2, one worse, and two never change. */
function solves(skill: string, { id, k }: Task): boolean {
  if (!id.startsWith('train-')) return levelOf(skill) + (skill.includes('WISE') ? 1 : 0) >= k;
  return [levelOf(skill) >= 2, levelOf(skill) < 2, false, true][k % 4]!;
}

type Options = {
  readonly script?: Script;
  readonly config?: SkillOptConfigInput;
  readonly store?: ReturnType<typeof memoryRun>;
};

/** A level per step, and so per epoch. */
const run = ({ script, config: more, ...options }: Options = {}) =>
  scriptedRun({
    solves,
    initialSkill: '# Skill\n\nLEVEL=0\n',
    script: { analyst: ({ step }) => appends(`LEVEL=${step}`), ...script },
    config: { ...config, ...more },
    ...options,
  });

const guidance = (text: string | ((epoch: number) => string)): Script => ({
  slow_update: ({ epoch }) => ({ slow_update_content: typeof text === 'string' ? text : text(epoch) }),
});

const pairsOf = (facts: Awaited<ReturnType<typeof run>>['facts']) =>
  ofType(facts, 'slow-update-end')[0]!.pairs.map(({ id, category }) => `${id.replace('train-', '')} ${category}`);

describe('the comparison of two epochs', () => {
  it('sorts the same tasks under both skills into four categories', async () => {
    const { facts } = await run();
    expect(pairsOf(facts)).toEqual([
      ...['6 persistent_fail', '7 stable_success', '5 regressed', '3 stable_success', '4 improved'],
      ...['8 improved', '1 regressed', '2 persistent_fail', '0 improved', '9 regressed'],
    ]);
  });

  it('is told with counts, what got worse first, and no trajectories of what always succeeds', async () => {
    const { calls } = await run();
    const { user } = calls.find(({ stage }) => stage === 'slow_update')!;
    expect(user).toContain('regressed 3, persistent_fail 2, improved 3, stable_success 2');
    const titles = [...user.matchAll(/^### (\w+)/gm)].map(([, title]) => title);
    expect(titles).toEqual(['Regressions', 'Persistent', 'Improvements', 'Stable']);
    const read = [...user.matchAll(/^id: train-(\d)$/gm)].map(([, k]) => k);
    expect(read.join('')).toBe('551199' + '6622' + '448800');
    expect(user).toContain('7, train-3');
  });

  it.each([
    ['mixed', ['6 persistent_fail', '7 stable_success', '5 regressed', '3 stable_success']],
    ['unchanged', ['6 persistent_fail', '7 stable_success', '3 stable_success']],
    ['changed', ['5 regressed', '4 improved', '8 improved', '1 regressed']],
  ] as const)('shows by policy: %s', async (longitudinalPairPolicy, expected) => {
    const { facts } = await run({ config: { slowUpdateSamples: 4, longitudinalPairPolicy } });
    expect(pairsOf(facts)).toEqual(expected);
  });

  it('attempts further tasks only while changed ones are missing', async () => {
    const attempted = async (longitudinalPairPolicy: 'mixed' | 'changed') => {
      const { rollouts } = await run({ config: { slowUpdateSamples: 4, longitudinalPairPolicy } });
      const after = rollouts.filter(({ id, skill }) => id.startsWith('train-') && levelOf(skill) === 2);
      return after.map(({ id }) => id.replace('train-', '')).join('');
    };
    expect(await attempted('mixed')).toBe('6753');
    expect(await attempted('changed')).toBe('67534812');
  });

  it.each(['mixed', 'changed', 'unchanged'] as const)('does not depend on the workers (%s)', async (policy) => {
    const at = (workers: number) =>
      run({ config: { workers, longitudinalPairPolicy: policy, slowUpdateSamples: 3 }, script: guidance('WISE') });
    const [one, many] = [await at(1), await at(6)];
    expect(many.facts.slice(1)).toEqual(one.facts.slice(1));
  });

  it('pays for no rollout that was made before', async () => {
    const { rollouts } = await run();
    const names = rollouts.map(({ id, skill }) => `${id} ${skill}`);
    expect(new Set(names).size).toBe(names.length);
  });
});

describe('guidance', () => {
  it('does not exist after the first epoch, and nothing stands in for it', async () => {
    const { facts, calls, summary } = await run({ config: { numEpochs: 1 }, script: guidance('WISE') });
    expect(ofType(facts, 'slow-update-end')).toEqual([]);
    expect(calls.filter(({ stage }) => stage === 'slow_update')).toEqual([]);
    expect(summary.bestSkill).not.toContain(BLOCK_START);
  });

  it('stands in one protected block, and is replaced, not doubled', async () => {
    const { summary, facts } = await run({
      config: { numEpochs: 4 },
      script: {
        ...guidance((epoch) => `WISE words of epoch ${epoch}`),
        analyst: ({ step }) => appends(`LEVEL=${step}`),
      },
    });
    expect(ofType(facts, 'slow-update-end').map(({ action }) => action)).toEqual([
      'accept_new_best',
      'reject',
      'reject',
    ]);
    expect(summary.bestSkill.split(BLOCK_START)).toHaveLength(2);
    const forced = await run({
      config: { numEpochs: 4, slowUpdateGate: false },
      script: guidance((epoch) => `words of epoch ${epoch}`),
    });
    const skill = forced.store.views['current_skill.md']!;
    expect(skill.match(/words of epoch \d/g)).toEqual(['words of epoch 4']);
    expect(skill.split(BLOCK_START)).toHaveLength(2);
  });

  it('is read again when it is to be replaced', async () => {
    const { calls } = await run({
      config: { numEpochs: 3, slowUpdateGate: false },
      script: guidance((epoch) => `words of epoch ${epoch}`),
    });
    const [first, second] = calls.filter(({ stage }) => stage === 'slow_update');
    expect(first!.user).toContain('None: this is the first.');
    expect(second!.user).toMatch(/<guidance-\w+>\nwords of epoch 2\n/);
  });

  it('cannot be touched by the edits of steps', async () => {
    const { summary } = await run({
      config: { numEpochs: 3 },
      script: {
        ...guidance((epoch) => (epoch === 2 ? 'WISE words' : '')),
        analyst: ({ step }) => {
          const { edits } = appends(`LEVEL=${step}`).patch;
          return { patch: { edits: [...edits, { op: 'replace', target: 'WISE words', content: 'nothing' }] } };
        },
      },
    });
    expect(summary.bestSkill).toContain('LEVEL=3');
    expect(summary.bestSkill).toContain('WISE words');
  });

  it('that is not better on validation is dropped', async () => {
    const { facts, store } = await run({ script: guidance('idle words') });
    expect(ofType(facts, 'slow-update-end')).toMatchObject([{ action: 'reject', score: 0.3 }]);
    expect(store.views['current_skill.md']).not.toContain('idle words');
  });

  it('is forced on the current skill without a gate, which is measured again; the best stays', async () => {
    const { facts, summary, store } = await run({ config: { slowUpdateGate: false }, script: guidance('LEVEL=0') });
    const [end] = ofType(facts, 'slow-update-end');
    expect(end).toMatchObject({ action: 'force_accept', score: 0.1 });
    expect(end!.evaluation?.scores).toHaveLength(10);
    expect(summary).toMatchObject({
      bestSelectionHard: 0.3,
      currentSelectionScore: 0.1,
      finalTestHard: 0.1,
      testHard: 0.3,
    });
    expect(store.views['current_skill.md']).toContain(BLOCK_START);
    expect(summary.bestSkill).not.toContain(BLOCK_START);
  });

  it('that is forced and better is the best', async () => {
    const { summary } = await run({ config: { slowUpdateGate: false }, script: guidance('WISE') });
    expect(summary).toMatchObject({ bestSelectionHard: 0.4, bestOrigin: 'slow_update_epoch_02' });
  });

  it.each([
    ['nothing', () => ({ slow_update_content: ' ' })],
    ['babble', () => undefined],
  ])('costs no evaluation when the answer is %s', async (_name, slow_update) => {
    const { facts, rollouts, summary } = await run({ script: { slow_update }, config: { evalTest: false } });
    expect(ofType(facts, 'slow-update-end')).toMatchObject([{ action: 'no_content', evaluation: null, content: '' }]);
    expect(rollouts.filter(({ id }) => id.startsWith('val-'))).toHaveLength(30);
    expect(summary.bestSkill).not.toContain(BLOCK_START);
  });

  it('that says what stands there already costs no evaluation', async () => {
    const { facts } = await run({ config: { numEpochs: 3 }, script: guidance('WISE') });
    expect(ofType(facts, 'slow-update-end').map(({ action }) => action)).toEqual(['accept_new_best', 'unchanged']);
  });

  it('that would make the skill too long is not tried', async () => {
    const { facts } = await run({ config: { maxSkillTokens: 60 }, script: guidance(`WISE ${'word '.repeat(60)}`) });
    expect(ofType(facts, 'slow-update-end')).toMatchObject([{ action: 'over_cap', evaluation: null }]);
  });

  it('is not asked for when it is off', async () => {
    const { facts, calls } = await run({ config: { useSlowUpdate: false, useMetaSkill: false } });
    expect(ofType(facts, 'slow-update-end')).toEqual([]);
    expectEvery(calls, ({ stage }) => stage !== 'slow_update' && stage !== 'meta_skill');
  });
});

describe('the memory of the optimizer', () => {
  const notes = (say: (epoch: number) => string): Script => ({
    meta_skill: ({ epoch }) => ({ meta_skill_content: say(epoch) }),
  });
  const remembering = (options: Options = {}) =>
    run({ ...options, config: { numEpochs: 4, useMetaSkill: true, ...options.config } });

  it('is written from the second epoch on, but not after the last', async () => {
    const { facts } = await remembering({ script: notes((epoch) => `notes ${epoch}`) });
    expect(ofType(facts, 'meta-skill-end').map(({ epoch, action }) => `${epoch} ${action}`)).toEqual([
      ...['2 write_meta_skill', '3 write_meta_skill'],
    ]);
  });

  it('is carried forward when an epoch has nothing to add', async () => {
    const { calls, facts } = await remembering({ script: notes((epoch) => (epoch === 2 ? 'short rules help' : '')) });
    expect(ofType(facts, 'meta-skill-end').map(({ action }) => action)).toEqual(['write_meta_skill', 'no_content']);
    const readers = calls.filter(({ user, stage }) => stage === 'analyst' && user.includes('short rules help'));
    expect(readers.map(({ epoch }) => epoch)).toEqual([3, 3, 4, 4]);
  });

  it('is shown to who writes it again', async () => {
    const { calls } = await remembering({ script: notes((epoch) => `notes ${epoch}`) });
    expect(calls.filter(({ stage }) => stage === 'meta_skill').map(({ user }) => user.includes('notes 2'))).toEqual([
      ...[false, true],
    ]);
  });

  it('never stands in a skill', async () => {
    const { store } = await remembering({ script: { ...notes(() => 'SECRET NOTES'), ...guidance('WISE') } });
    const documents = Object.entries(store.views).filter(([path]) => path.endsWith('.md'));
    expect(documents.length).toBeGreaterThan(5);
    expect(documents.filter(([, text]) => text.includes('SECRET NOTES'))).toEqual([]);
  });

  it('compares epochs by itself when there is no guidance', async () => {
    const { calls } = await remembering({ config: { useSlowUpdate: false }, script: notes(() => 'notes') });
    const asked = calls.filter(({ stage }) => stage === 'meta_skill');
    expect(asked).toHaveLength(2);
    expect(asked[0]!.user).toContain('## Comparison (10 tasks)');
  });

  it('survives a resume', async () => {
    const whole = await remembering({ script: notes(() => 'short rules help') });
    const cut = whole.facts.findIndex((fact) => fact.type === 'meta-skill-end') + 1;
    const store = memoryRun(whole.store.events.slice(0, cut));
    const rest = await remembering({ script: notes(() => 'short rules help'), store });
    expect(rest.facts).toEqual(whole.facts);
    expect(rest.calls.find(({ stage }) => stage === 'analyst')!.user).toContain('short rules help');
  });
});
