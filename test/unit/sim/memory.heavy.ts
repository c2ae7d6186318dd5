import { describe, expect, it } from 'vitest';
import type { PromptName } from '../../../src/core/contracts/index.ts';
import { UPDATE_MODES } from '../../../src/core/document/index.ts';
import { fence } from '../../../src/core/text/index.ts';
import {
  type ChatModel,
  memoryRun,
  SimpleQAEnv,
  type SkillOptConfigInput,
  SkillOptTrainer,
} from '../../../src/index.ts';
import { metaSections, stepSections } from '../../../src/pipeline/epoch/memory.ts';
import { loadPrompts, type Memory } from '../../../src/pipeline/index.ts';
import {
  createWorld,
  type SimulatedOptimizerOptions,
  simulatedOptimizer,
  simulatedTarget,
  type WorldItem,
} from '../../../src/public/sim.ts';
import { LESSONS } from '../../../src/sim/optimizer/propose-changes.ts';
import { TOPICS } from '../../../src/sim/world/topics.ts';
import { readRules, remindedTopics, reminderOf } from '../../../src/sim/world/world.ts';
import { EPOCH_ENDS } from '../../support/strict-gate.ts';

const { items, rules, initialSkill } = createWorld({ train: 120 });
const [first, second] = rules as [{ topic: string; text: string }, { topic: string; text: string }];
const onTopic = (topic: string, count: number) =>
  items.train.filter(({ taskType }) => taskType === topic).slice(0, count);
const prompts = loadPrompts({}, {});
const REMARK = 'Read the question twice before you answer.';

async function ask(prompt: PromptName, sections: readonly string[], options: SimulatedOptimizerOptions = {}) {
  const messages = [
    { role: 'system', content: prompts[prompt] },
    { role: 'user', content: sections.join('\n\n') },
  ] as const;
  const optimizer = simulatedOptimizer({ precision: 1, harmfulRate: 0, duplicateRate: 0, ...options });
  return JSON.parse((await optimizer.complete({ messages })).text);
}

const skillSection = (skill: string) => `## Current skill\n${fence('skill', skill)}`;
const attempt = ({ id, question, answers }: WorldItem) =>
  fence('trajectory', `id: ${id}\nquestion: ${question}\nreference: ${answers[0]}\npredicted: something`);

type Batch = {
  readonly failures: readonly WorldItem[];
  readonly skill?: string;
  readonly memory?: Partial<Memory>;
  readonly prompt?: PromptName;
};

async function analyse(batch: Batch, options: SimulatedOptimizerOptions = {}) {
  const { failures, skill = initialSkill, memory = {}, prompt = 'analyst_error' } = batch;
  const whole = { stepBuffer: [], metaSkill: '', ...memory };
  const trajectories = `## Trajectories (${failures.length} failed)\n${failures.map(attempt).join('\n\n')}`;
  const head = [skillSection(skill), ...metaSections(whole), ...stepSections(whole)];
  return ask(prompt, [...head, '## Edit budget\nAt most 4 edits.', trajectories], options);
}

const append = (content: string) => ({ op: 'append', target: '', content }) as const;
const rejection = (contents: readonly string[], failing = first.topic): Memory['stepBuffer'][number] => ({
  step: 1,
  action: 'reject',
  nTotal: 8,
  nFail: 2,
  failurePatterns: [{ type: failing, count: 2, taskIds: ['train-001'] }],
  scoreBefore: 0.5,
  scoreAfter: 0.4,
  rejectedEdits: contents.map(append),
});
const notes = [`- ${LESSONS.remarks}`, `- ${LESSONS.reference}`].join('\n');
const contentsOf = ({ patch }: { patch: { edits: { content: string }[] } }) =>
  patch.edits.map(({ content }) => content);

describe('the step buffer', () => {
  const stubborn = { harmfulRate: 1, stubbornness: 1 };

  it('without it a habit makes the same mistake on every batch; with it another edit comes', async () => {
    const failures = onTopic(first.topic, 4);
    const [mistake] = contentsOf(await analyse({ failures: failures.slice(0, 2) }, stubborn));
    expect(mistake).not.toBe(`- ${first.text}`);
    expect(contentsOf(await analyse({ failures: failures.slice(2) }, stubborn))).toEqual([mistake]);
    const memory = { stepBuffer: [rejection([mistake!])] };
    expect(contentsOf(await analyse({ failures: failures.slice(2), memory }, stubborn))).not.toContain(mistake);
  });

  it('a rule that went down with others and is right is said again in other words', async () => {
    const memory = { stepBuffer: [rejection([`- ${first.text}`, '- Be brief.'])] };
    const [content] = contentsOf(await analyse({ failures: onTopic(first.topic, 2), memory }));
    expect(content).not.toBe(`- ${first.text}`);
    expect(readRules(content!).get(first.topic)?.variant.rule).toBe(first.text);
  });

  it('is understood when suggestions were rejected', async () => {
    const batch = { failures: onTopic(first.topic, 2), prompt: 'analyst_error_rewrite' } as const;
    const instructionOf = async (memory: Partial<Memory>): Promise<string> =>
      (await analyse({ ...batch, memory }, stubborn)).patch.revise_suggestions[0].instruction;
    const content = await instructionOf({});
    const rejectedEdits = [{ op: 'suggest', target: 'add: x', content }] as const;
    expect(await instructionOf({ stepBuffer: [{ ...rejection([]), rejectedEdits }] })).not.toBe(content);
  });

  it('makes the optimizer take smaller steps after a rejection, and count no edit that was tried', async () => {
    const edits = rules.slice(0, 5).map(({ text }) => append(`- ${text}`));
    const proposed = `## Proposed changes (5)\n${fence('items', edits.map((edit, at) => `[${at}] ${JSON.stringify(edit)}`).join('\n'))}`;
    const decide = async (stepBuffer: Memory['stepBuffer']) =>
      (await ask('lr_autonomous', [skillSection(''), ...stepSections({ stepBuffer, metaSkill: '' }), proposed]))
        .learning_rate;
    expect(await decide([])).toBe(5);
    expect(await decide([rejection([`- ${first.text}`])])).toBe(2);
  });
});

describe("the optimizer's notes", () => {
  const failures = onTopic(first.topic, 2);

  it('lessen the mistakes that they name, by the gain that is set', async () => {
    const memory = { metaSkill: notes };
    for (const habit of [{ harmfulRate: 1 }, { precision: 0 }]) {
      const mistaken = contentsOf(await analyse({ failures, memory }, { ...habit, metaGain: 0 }));
      expect(mistaken).not.toEqual([`- ${first.text}`]);
      expect(contentsOf(await analyse({ failures, memory }, { ...habit, metaGain: 1 }))).toEqual([`- ${first.text}`]);
      expect(contentsOf(await analyse({ failures }, { ...habit, metaGain: 1 }))).not.toEqual([`- ${first.text}`]);
    }
  });

  it('put remarks last in a ranking', async () => {
    const edits = [append(`- ${REMARK}`), append(`- ${first.text}`)];
    const list = `## Edits (2, keep at most 1)\n${fence('edits', edits.map((edit, at) => `[${at}] ${JSON.stringify(edit)}`).join('\n'))}`;
    const rank = async (metaSkill: string) =>
      (await ask('ranking', [skillSection(''), ...metaSections({ stepBuffer: [], metaSkill }), list])).selected_indices;
    expect([await rank(''), await rank(notes)]).toEqual([[0], [1]]);
  });

  it('name what the comparison and the rejected edits show, and are carried forward', async () => {
    const stepBuffer = [rejection([`- ${second.text}`, `- ${REMARK}`])];
    const write = async (memory: Memory, comparison: string): Promise<string> => {
      const sections = [skillSection(initialSkill), `## Skill of the epoch before\n${fence('skill', initialSkill)}`];
      const fenced = `## Comparison (2 tasks)\n${fence('comparison', comparison)}`;
      const all = [...sections, ...metaSections(memory), ...stepSections(memory), fenced];
      return (await ask('meta_skill', all)).meta_skill_content;
    };
    const written = await write({ stepBuffer, metaSkill: '' }, comparisonOf('Persistent failures', failures));
    for (const text of [LESSONS.remarks, LESSONS.reference, `«${second.text}»`, `«${REMARK}»`]) {
      expect(written).toContain(text);
    }
    expect(written).not.toContain(LESSONS.rules);
    expect(await write({ stepBuffer: [], metaSkill: written }, '')).toBe(written);
  });
});

const comparisonOf = (title: string, tasks: readonly WorldItem[]) =>
  `counts\n\n### ${title}\n${tasks.map((task) => `task ${task.id}, before:\n${attempt(task)}\ntask ${task.id}, now:\n${attempt(task)}`).join('\n\n')}`;

describe('slow guidance', () => {
  async function guide(comparison: string, { skill = initialSkill, guidance = '' } = {}): Promise<string> {
    const sections = [
      skillSection(skill),
      `## Skill of the epoch before\n${fence('skill', initialSkill)}`,
      `## Guidance so far\n${guidance === '' ? 'None: this is the first.' : fence('guidance', guidance)}`,
      `## Comparison (2 tasks)\n${fence('comparison', comparison)}`,
    ];
    return (await ask('slow_update', sections)).slow_update_content;
  }
  const regression = comparisonOf('Regressions: succeeded before, fail now', onTopic(first.topic, 2));

  it('asks for what regressed and what fails as before, in words that the target obeys in its block', async () => {
    const content = await guide(`${regression}\n\n${comparisonOf('Persistent failures', onTopic(second.topic, 1))}`);
    expect(content).toBe(`- ${first.text}\n- ${second.text}`);
    const skill = `${initialSkill}\n<!-- SLOW_UPDATE_START -->\n${content}\n<!-- SLOW_UPDATE_END -->\n`;
    const [task] = onTopic(first.topic, 1);
    const { text } = await simulatedTarget({ noise: 0 }).complete({
      messages: [
        { role: 'system', content: skill },
        { role: 'user', content: `Question: ${task!.question}` },
      ],
    });
    expect(text).toContain(task!.answers[0]);
  });

  it('carries over what holds, mends what fails, and has nothing to say when nothing fails', async () => {
    const wrong = TOPICS.find(({ name }) => name === first.topic)!.variants.find(({ rule }) => rule !== first.text)!;
    const guidance = `- ${second.text}\n- ${wrong.rule}`;
    const skill = `${initialSkill}\n${guidance}\n`;
    expect(await guide(regression, { skill, guidance })).toBe(`- ${second.text}\n- ${first.text}`);
    expect(await guide('')).toBe('');
  });

  it('is left alone by the analysts of a step: edits in its block are dropped', async () => {
    const wrong = TOPICS.find(({ name }) => name === first.topic)!.variants.find(({ rule }) => rule !== first.text)!;
    const skill = `# Style\n\n<!-- SLOW_UPDATE_START -->\n- ${wrong.rule}\n<!-- SLOW_UPDATE_END -->\n`;
    expect(contentsOf(await analyse({ failures: onTopic(first.topic, 2), skill }))).toEqual([]);
  });
});

describe('reminders', () => {
  const withAppendix = (...lines: string[]) =>
    `# Style\n\n- ${first.text}\n\n<!-- APPENDIX_START -->\n${lines.map((line) => `- ${line}`).join('\n')}\n<!-- APPENDIX_END -->\n`;

  it('make the target slip half as often on their topic', async () => {
    const tasks = createWorld({ train: 6000 }).items.train.filter(({ taskType }) => taskType === first.topic);
    const target = simulatedTarget({ noise: 0.4 });
    const countSlips = async (skill: string) => {
      const replies = await Promise.all(
        tasks.map(({ question }) =>
          target.complete({
            messages: [
              { role: 'system', content: skill },
              { role: 'user', content: `Question: ${question}` },
            ],
          }),
        ),
      );
      return replies.filter(({ text }, at) => !text.includes(`>${tasks[at]!.answers[0]}<`)).length / tasks.length;
    };
    expect(await countSlips(withAppendix('Be brief.'))).toBeCloseTo(0.4, 1);
    expect(await countSlips(withAppendix(reminderOf([first.topic])))).toBeCloseTo(0.2, 1);
  });

  it('become fewer without forgetting a topic', async () => {
    const list = [reminderOf(['dates']), 'Be brief.', reminderOf(['names'])].map((note) => `- ${note}`).join('\n');
    const shorten = async (text: string): Promise<string[]> =>
      (await ask('appendix_consolidate', [skillSection(''), `## Notes (3)\n${fence('notes', text)}`])).notes;
    const fewer = await shorten(list);
    expect(fewer).toHaveLength(2);
    expect(remindedTopics(withAppendix(...fewer))).toEqual(new Set(['dates', 'names']));
    expect(await shorten('- A.\n- B.')).toEqual(['A.']);
  });
});

it('the knobs of memory are in the id of an optimizer that has them set', () => {
  const id = (options: SimulatedOptimizerOptions = {}) => simulatedOptimizer(options).id;
  const changed = [{}, { stubbornness: 0.5 }, { metaGain: 0.1 }, { slowGain: 0.1 }];
  expect(new Set(changed.map(id)).size).toBe(4);
  expect(id()).toBe('sim-optimizer/1 seed=7 precision=0.85 harmful=0.1 duplicate=0.1');
});

describe('a whole run', () => {
  const everything = {
    ...EPOCH_ENDS,
    batchSize: 16,
    evalTest: false,
    useSkillAwareReflection: true,
    skillAwareConsolidateThreshold: 1,
  } as const;

  async function train(config: SkillOptConfigInput) {
    const world = createWorld({ train: 48, val: 36, test: 0 });
    const asked = new Map<string, number>();
    const optimizer = simulatedOptimizer({ precision: 0.6, harmfulRate: 0.3, stubbornness: 0.5 });
    const watched: ChatModel = {
      ...optimizer,
      complete(request) {
        // A third message is a complaint about a reply that could not be used.
        const name = request.messages.length > 2 ? 'complaint' : (request.stage ?? '');
        asked.set(name, (asked.get(name) ?? 0) + 1);
        return optimizer.complete(request);
      },
    };
    const trainItems = world.items.train;
    const env = new SimpleQAEnv({
      trainItems,
      valItems: world.items.val,
      testItems: [],
      initialSkill: world.initialSkill,
    });
    const store = memoryRun();
    const target = simulatedTarget({ noise: 0.1 });
    const summary = await new SkillOptTrainer({ config, env, target, optimizer: watched, store }).train();
    return { asked, summary, store };
  }

  it.each(UPDATE_MODES)('in %s mode every prompt is answered at the first try, and the skill learns', async (mode) => {
    const { asked, summary } = await train({ ...everything, skillUpdateMode: mode, numEpochs: 3 });
    expect(asked.get('complaint')).toBeUndefined();
    for (const stage of ['analyst', 'merge', 'slow_update', 'meta_skill']) expect([...asked.keys()]).toContain(stage);
    expect(asked.has('rewrite')).toBe(mode === 'rewrite_from_suggestions');
    expect(asked.has('ranking')).toBe(mode !== 'full_rewrite_minibatch');
    expect(asked.has('appendix_consolidate')).toBe(mode !== 'full_rewrite_minibatch');
    const learned = [...readRules(summary.bestSkill).values()].map(({ variant }) => variant.rule);
    expect(rules.filter(({ text }) => learned.includes(text)).length).toBeGreaterThanOrEqual(6);
  });

  it('gives the optimizer the say on the budget, and it says a number', async () => {
    const { asked, store } = await train({ ...everything, lrControlMode: 'autonomous', numEpochs: 1 });
    expect(asked.get('complaint')).toBeUndefined();
    const decisions = store.events.filter((event) => event.type === 'lr-decision');
    expect(decisions.length).toBeGreaterThan(0);
    expect(decisions.some((event) => event.type === 'lr-decision' && event.isFallback)).toBe(false);
  });
});
