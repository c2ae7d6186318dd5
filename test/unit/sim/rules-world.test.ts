import { describe, expect, it } from 'vitest';
import type { Ranker } from '../../../bench/quality/rules-world/rank.ts';
import { rulesEnv } from '../../../bench/quality/rules-world/rules-env.ts';
import { type RulesOptimizerOptions, rulesOptimizer } from '../../../bench/quality/rules-world/rules-optimizer.ts';
import { rulesTarget } from '../../../bench/quality/rules-world/rules-target.ts';
import {
  harmfulSentence,
  readSkill,
  remark,
  ruleInOtherWords,
  ruleSentence,
} from '../../../bench/quality/rules-world/sentences.ts';
import { trueScore } from '../../../bench/quality/rules-world/true-score.ts';
import { createRulesWorld, type RulesWorld } from '../../../bench/quality/rules-world/world.ts';
import {
  type ChatModel,
  createStageDeps,
  type Edit,
  memoryRun,
  mergePatches,
  type RawPatch,
  type RolloutResult,
  rankAndSelect,
  runMinibatchReflect,
  SkillOptTrainer,
} from '../../../src/index.ts';

const world = createRulesWorld({ seed: 5, noise: 0.1 });
const [first = '', second = ''] = world.rules;
const stating = (words: readonly string[]) => [world.initialSkill, ...words.map(ruleSentence)].join('\n');
const full = stating(world.rules);

const edit = (content: string): Edit => ({ op: 'append', target: '', content: `- ${content}` });

/** The mean of so many rollouts of each validation task. */
async function sampleScore(skill: string, { tasks, ...rest }: RulesWorld, draws: number): Promise<number> {
  const target = rulesTarget({ tasks, ...rest });
  const env = rulesEnv({ tasks, ...rest });
  const { signal } = new AbortController();
  const attempts = tasks.val.flatMap((item) =>
    Array.from({ length: draws }, (_, sampleIndex) => {
      const drawn: ChatModel = { ...target, complete: (request) => target.complete({ ...request, sampleIndex }) };
      return env.rolloutOne({ item, skill, target: drawn, extras: {}, signal });
    }),
  );
  const results = await Promise.all(attempts);
  return results.reduce((sum, { hard }) => sum + hard, 0) / results.length;
}

describe('the rules world', () => {
  it('has tasks that need one rule or two, half and half, and no rule that nobody needs', () => {
    const { tasks, rules } = createRulesWorld({ seed: 9, noise: 0.1, rules: 7, train: 40, val: 20 });
    expect([rules.length, tasks.train.length, tasks.val.length]).toEqual([7, 40, 20]);
    expect(tasks.train.filter(({ needs }) => needs.length === 2)).toHaveLength(20);
    expect(new Set(tasks.val.flatMap(({ needs }) => needs)).size).toBe(7);
    for (const { luck } of tasks.train) expect(luck).toBeGreaterThanOrEqual(0.05);
    for (const { luck } of tasks.train) expect(luck).toBeLessThan(0.3);
  });

  it.each([
    ['no rule', world.initialSkill],
    ['half of the rules', stating(world.rules.slice(0, 6))],
    ['all rules', full],
    ['all rules and harm', `${full}\n${harmfulSentence(3)}\n${harmfulSentence(8)}`],
  ])('has a true score that many rollouts come to: %s', async (_, skill) => {
    expect(Math.abs((await sampleScore(skill, world, 80)) - trueScore(skill, world))).toBeLessThan(0.025);
  });

  it('lets a harmful sentence spoil its own fifth, and a remark nothing', () => {
    expect(trueScore(full, world)).toBeCloseTo(0.9);
    expect(trueScore(`${full}\n${harmfulSentence(3)}`, world)).toBeCloseTo(0.9 - 0.2 * 0.9 * 0.9);
    expect(trueScore(`${full}\n${remark(3)}`, world)).toBeCloseTo(0.9);
    expect(world.spoiledBy(3)).not.toEqual(world.spoiledBy(4));
  });

  it('reads a rule in other words', () => {
    expect([...readSkill(ruleInOtherWords(first, 12)).stated]).toEqual([first]);
  });

  it('changes nothing in null mode, whatever the skill says', async () => {
    const deaf = createRulesWorld({ seed: 5, noise: 0.1, nullMode: true });
    expect(trueScore(full, deaf)).toBe(trueScore(`${deaf.initialSkill}\n${harmfulSentence(1)}`, deaf));
    expect(Math.abs((await sampleScore(full, deaf, 80)) - trueScore(full, deaf))).toBeLessThan(0.025);
  });

  it('answers equal requests equally, and draws again for another text or sample', async () => {
    const target = rulesTarget(world);
    const ask = async (skill: string, sampleIndex: number) => {
      const replies = world.tasks.train.map(({ question }) => {
        const messages = [
          { role: 'system', content: skill },
          { role: 'user', content: question },
        ] as const;
        return target.complete({ messages, sampleIndex });
      });
      return (await Promise.all(replies)).map(({ text }) => text);
    };
    const replies = await ask(world.initialSkill, 0);
    expect(await ask(world.initialSkill, 0)).toEqual(replies);
    expect(await ask(world.initialSkill, 1)).not.toEqual(replies);
    expect(await ask(`${world.initialSkill}${remark(1)}`, 0)).not.toEqual(replies);
  });
});

/** All training tasks failed, or all succeeded. */
function resultsOf({ tasks }: RulesWorld, hard: 0 | 1): RolloutResult[] {
  return tasks.train.map(({ id, question }) => ({ id, question, hard, soft: hard }));
}

type Asked = {
  readonly skill?: string;
  readonly hard?: 0 | 1;
  readonly stepBuffer?: string[];
  readonly draws?: number;
};

/** What its analysts propose, by many draws. */
async function propose(options: RulesOptimizerOptions, asked: Asked) {
  const { skill = world.initialSkill, hard = 0, stepBuffer, draws = 12 } = asked;
  const optimizer = rulesOptimizer(world, options);
  const deps = createStageDeps({ target: rulesTarget(world), optimizer });
  const entry = { step: 1, action: 'reject', nTotal: 40, nFail: 20, failurePatterns: [] } as const;
  const memory = { metaSkill: '', stepBuffer: [{ ...entry, rejectedEdits: (stepBuffer ?? []).map(edit) }] };
  const input = { skill, results: resultsOf(world, hard), minibatchSize: 8, editBudget: 4, memory };
  const drawn = Array.from({ length: draws }, (_, seed) =>
    runMinibatchReflect({ ...input, seed, sampleIndex: seed }, deps),
  );
  return (await Promise.all(drawn)).flat().flatMap(({ patch }) => patch.edits.map(({ content }) => content));
}

function sharesOf(contents: readonly string[]) {
  const share = (isWanted: (content: string) => boolean) => contents.filter(isWanted).length / contents.length;
  return {
    right: share((content) => readSkill(content).stated.size > 0),
    harmful: share((content) => readSkill(content).harms.length > 0),
  };
}

describe('the optimizer of the rules world', () => {
  it('proposes right, harmful and useless edits in the shares that it is told', async () => {
    const { right, harmful } = sharesOf(await propose({ precision: 0.4, harm: 0.2 }, { draws: 40 }));
    expect(harmful).toBeCloseTo(0.2, 1);
    expect(right).toBeCloseTo(0.8 * 0.4, 1);
  });

  it('proposes rules that are missing, in fixed words or new ones, and none twice', async () => {
    const always = { precision: 1, harm: 0 };
    const fixed = await propose(always, { skill: stating([first]) });
    expect(new Set(fixed)).toEqual(new Set(world.rules.slice(1).map((word) => `- ${ruleSentence(word)}`)));
    const again = await propose({ ...always, wording: 'new' }, {});
    expect(new Set(again).size).toBe(again.length);
    expect(sharesOf(again).right).toBe(1);
    expect(await propose(always, { skill: full })).toEqual([]);
  });

  it('thinks over what was rejected if it learns, and else does not', async () => {
    const always = { precision: 1, harm: 0 };
    const rejected = ruleSentence(first);
    expect(await propose(always, { stepBuffer: [rejected] })).toContain(`- ${rejected}`);
    const learned = await propose({ ...always, learns: true }, { stepBuffer: [rejected] });
    expect(learned).not.toContain(`- ${rejected}`);
    expect(learned.filter((content) => readSkill(content).stated.has(first)).length).toBeGreaterThan(0);
  });

  it('says little about successes', async () => {
    const contents = await propose({ precision: 1, harm: 1 }, { hard: 1, draws: 40 });
    expect(contents.length / 400).toBeCloseTo(0.3, 1);
    expect(sharesOf(contents)).toEqual({ right: 0, harmful: 0 });
  });

  const listed = [harmfulSentence(7), remark(1), ruleSentence(first), ruleSentence(second), remark(2)];

  async function rank(ranker: Ranker, skill: string, editBudget: number, sentences: readonly string[] = listed) {
    const optimizer = rulesOptimizer(world, { precision: 1, harm: 0, ranker });
    const deps = createStageDeps({ target: rulesTarget(world), optimizer });
    const patch = { reasoning: '', edits: sentences.map(edit) };
    const { edits } = await rankAndSelect({ skill, patch, editBudget }, deps);
    return edits.map(({ content }) => sentences.indexOf(content.slice(2)));
  }

  it('ranks by the true effect: rules by their reach, then what does nothing, then harm', async () => {
    const all = [...world.tasks.train, ...world.tasks.val];
    const reach = (word: string) => trueScore(stating([word]), world, all);
    const rules = reach(first) > reach(second) ? [2, 3] : [3, 2];
    expect(await rank('right', world.initialSkill, 4)).toEqual([...rules, 1, 4]);
    expect(await rank('right', stating([first]), 4)).toEqual([3, 1, 2, 4]);
  });

  it('puts what the list has said before behind what is of use', async () => {
    const sentences = [ruleSentence(first), ruleInOtherWords(first, 1), ruleSentence(second), harmfulSentence(1)];
    expect((await rank('right', world.initialSkill, 3, sentences)).at(-1)).toBe(1);
  });

  it('merges equal edits into one, with their supports added up', async () => {
    const deps = createStageDeps({
      target: rulesTarget(world),
      optimizer: rulesOptimizer(world, { precision: 1, harm: 0 }),
    });
    const raw = (supportCount: number, ...contents: string[]): RawPatch => {
      const edits = contents.map((content) => ({ ...edit(content), supportCount }));
      return { patch: { reasoning: '', edits }, sourceType: 'failure', batchSize: 8 };
    };
    const patches = [raw(2, ruleSentence(first)), raw(3, remark(1), ruleSentence(first))];
    const { edits } = await mergePatches({ skill: world.initialSkill, patches, mergeBatchSize: 8 }, deps);
    const found = edits.map(({ content, supportCount }) => [content, supportCount]);
    expect(found).toEqual([
      [`- ${ruleSentence(first)}`, 5],
      [`- ${remark(1)}`, 3],
    ]);
  });

  it('ranks the whole list when nothing limits it', async () => {
    const messages = [
      { role: 'system', content: 'Answer with selected_indices.' },
      {
        role: 'user',
        content: `## Edits (5)\n<edits-0a1b2c3d>\n${listed.map((content, index) => `[${index}] ${JSON.stringify(edit(content))}`).join('\n')}\n</edits-0a1b2c3d>`,
      },
    ] as const;
    const { text } = await rulesOptimizer(world, { precision: 1, harm: 0 }).complete({ messages });
    const { selected_indices: order } = JSON.parse(text);
    expect(order).toHaveLength(5);
    expect(order.at(-1)).toBe(0);
  });

  it('ranks at random, or nearly rightly, if it is told so', async () => {
    expect(await rank('random', world.initialSkill, 4)).not.toEqual(await rank('right', world.initialSkill, 4));
    expect(await rank('noisy', world.initialSkill, 4)).toHaveLength(4);
  });

  it('trains a skill with the real trainer, and none of its edits is taken for a leak', async () => {
    const store = memoryRun();
    const summary = await new SkillOptTrainer({
      config: { numEpochs: 2, evalTest: false },
      env: rulesEnv(world),
      target: rulesTarget(world),
      optimizer: rulesOptimizer(world, { precision: 0.9, harm: 0.05, wording: 'new' }),
      store,
    }).train();
    expect(trueScore(summary.bestSkill, world)).toBeGreaterThan(trueScore(world.initialSkill, world));
    expect(JSON.stringify(store.events)).not.toContain('"refused"');
  });
});
