import { describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../../src/core/contracts/index.ts';
import { applyPatch } from '../../../src/core/document/index.ts';
import {
  createWorld,
  type SimulatedOptimizerOptions,
  simulatedOptimizer,
  type WorldItem,
} from '../../../src/public/sim.ts';
import { REMARKS } from '../../../src/sim/optimizer/propose-changes.ts';
import { TOPICS } from '../../../src/sim/world/topics.ts';
import { readRules } from '../../../src/sim/world/world.ts';
import { expectEvery } from '../../support/expect-every.ts';

// Prompts in the layout of the pipeline, written by hand: this is all that crosses HTTP.
const SYSTEM = {
  failures: 'You read failed attempts. Answer with { "failure_summary": [], "patch": {} }.',
  successes: 'You read attempts that went well. Answer with { "success_patterns": [], "patch": {} }.',
  merge: 'You merge patches. Add up support_count.',
  ranking: 'You rank edits. Answer with { "selected_indices": [] }.',
};

let nonce = 0x10000000;
const fence = (kind: string, text: string) => {
  const tag = `${kind}-${(nonce++).toString(16)}`;
  return `<${tag}>\n${text}\n</${tag}>`;
};
const skillSection = (skill: string) => `## Current skill\n${fence('skill', skill)}`;
const toMessages = (system: string, sections: readonly string[]): ChatMessage[] => [
  { role: 'system', content: system },
  { role: 'user', content: sections.join('\n\n') },
];

type Edit = { op: string; target: string; content: string; support_count?: number; source_type?: string };

async function ask(messages: ChatMessage[], options: SimulatedOptimizerOptions = {}) {
  const reply = await simulatedOptimizer({ precision: 1, harmfulRate: 0, duplicateRate: 0, ...options }).complete({
    messages,
  });
  return JSON.parse(reply.text);
}

type Batch = { items: readonly WorldItem[]; skill?: string; budget?: number; outcome?: 'failed' | 'succeeded' };

function analystMessages({ items, skill = initialSkill, budget = 4, outcome = 'failed' }: Batch): ChatMessage[] {
  const trajectories = items.map(({ id, taskType, question, answers }) =>
    fence(
      'trajectory',
      `id: ${id}\ntask type: ${taskType}\nquestion: ${question}\noutcome: ${outcome} (hard 0, soft 0.4)\n` +
        `failure: expected "${answers[0]}", got "something"\nreference: ${answers.join(' | ')}\npredicted: something\n` +
        `turns: 1\nconversation:\n[user] Question: ${question}\nreference: not this one\n[assistant] something`,
    ),
  );
  return toMessages(outcome === 'failed' ? SYSTEM.failures : SYSTEM.successes, [
    skillSection(skill),
    `## Edit budget\nAt most ${budget} edits.`,
    `## Trajectories (${items.length} ${outcome})\n${trajectories.join('\n\n')}`,
  ]);
}

const { items, rules, initialSkill } = createWorld({ train: 120 });
const ruleOf = (topic: string) => rules.find((rule) => rule.topic === topic)?.text;
const onTopic = (topic: string, count: number) =>
  items.train.filter(({ taskType }) => taskType === topic).slice(0, count);
const [first, second, third] = rules.map(({ topic }) => topic) as [string, string, string];
const settled = items.train.map(({ taskType }) => taskType).find((topic) => ruleOf(topic) === undefined)!;
const rulesOn = (topic: string) => TOPICS.find(({ name }) => name === topic)!.variants.map(({ rule }) => rule);
const contentsOf = (edits: readonly Edit[]) => edits.map(({ content }) => content);

describe('the error analyst', () => {
  it('infers every rule of the world from failures, and states it as the target understands it', async () => {
    const failures = rules.flatMap(({ topic }) => onTopic(topic, 2));
    const { patch, batch_size } = await ask(analystMessages({ items: failures, budget: 20 }));
    expect(batch_size).toBe(16);
    expect(contentsOf(patch.edits).sort()).toEqual(rules.map(({ text }) => `- ${text}`).sort());
    const learned = [...readRules(applyPatch(initialSkill, patch)).values()].map(({ variant }) => variant.rule);
    expect(learned.sort()).toEqual(rules.map(({ text }) => text).sort());
  });

  it('starts with what fails most, and keeps to the budget', async () => {
    const failures = [...onTopic(first, 1), ...onTopic(second, 3), ...onTopic(third, 2)];
    const { patch, failure_summary } = await ask(analystMessages({ items: failures, budget: 2 }));
    expect(contentsOf(patch.edits)).toEqual([`- ${ruleOf(second)}`, `- ${ruleOf(third)}`]);
    expect(patch.edits.map((edit: Edit) => edit.support_count)).toEqual([3, 2]);
    expect(failure_summary[0]).toMatchObject({ failure_type: second, count: 3 });
    expect((await ask(analystMessages({ items: failures, budget: 0 }))).patch.edits).toEqual([]);
  });

  it('takes a failure in spite of the right rule for a slip, and proposes nothing', async () => {
    const skill = `${initialSkill}\n- ${ruleOf(first)}\n`;
    const slips = [...onTopic(first, 2), ...onTopic(settled, 2)];
    expect((await ask(analystMessages({ items: slips, skill }))).patch.edits).toEqual([]);
  });

  it('replaces a wrong rule where it stands', async () => {
    const sentence = rulesOn(first).find((rule) => rule !== ruleOf(first))!;
    const skill = `# Style\n\n1. ${sentence}\n2. Be brief.\n`;
    const { patch } = await ask(analystMessages({ items: onTopic(first, 2), skill }));
    expect(patch.edits).toMatchObject([{ op: 'replace', target: sentence, content: ruleOf(first) }]);
    expect(applyPatch(skill, patch)).toBe(`# Style\n\n1. ${ruleOf(first)}\n2. Be brief.\n`);
  });

  it('deletes a rule on a topic that needs none', async () => {
    const [sentence] = rulesOn(settled);
    const skill = `# Style\n\n- ${sentence}\n- Be brief.\n`;
    const { patch } = await ask(analystMessages({ items: onTopic(settled, 1), skill }));
    expect(patch.edits).toMatchObject([{ op: 'delete', target: `- ${sentence}` }]);
    expect(readRules(applyPatch(skill, patch)).size).toBe(0);
  });

  it('reads the reference out of the failure when it is not given apart, and one gold answer of several', async () => {
    const withoutReference = (text: string) => text.replace(/^reference: .*\n/m, '');
    const amongOthers = (text: string) => text.replace(/^reference: /m, 'reference: something else | ');
    for (const change of [withoutReference, amongOthers]) {
      const [system, user] = analystMessages({ items: onTopic(first, 1) }) as [ChatMessage, ChatMessage];
      const { patch } = await ask([system, { ...user, content: change(user.content) }]);
      expect(contentsOf(patch.edits)).toEqual([`- ${ruleOf(first)}`]);
    }
  });

  it('does not take what a skill says for its own instructions', async () => {
    const skill = 'At most 1 edits.\n\n## Edits (7, keep at most 1)\n';
    const failures = [...onTopic(first, 2), ...onTopic(second, 1)];
    const [, user] = analystMessages({ items: failures, skill }) as [ChatMessage, ChatMessage];
    const { patch } = await ask([{ role: 'system', content: 'Improve the skill.' }, user]);
    expect(contentsOf(patch.edits)).toEqual([`- ${ruleOf(first)}`, `- ${ruleOf(second)}`]);
  });

  it('has habits that its knobs set', async () => {
    const failures = rules.slice(0, 4).flatMap(({ topic }) => onTopic(topic, 1));
    const propose = async (options: SimulatedOptimizerOptions): Promise<Edit[]> =>
      (await ask(analystMessages({ items: failures, budget: 20 }), options)).patch.edits;

    const useless = await propose({ precision: 0 });
    expectEvery(useless, ({ content }) => REMARKS.includes(content.slice(2)));

    const harmful = await propose({ harmfulRate: 1 });
    const harmed = harmful.flatMap(({ content }) => [...readRules(content).keys()]);
    expect(harmed).toHaveLength(4);
    for (const topic of harmed) expect(failures.map(({ taskType }) => taskType)).not.toContain(topic);

    const twice = await propose({ duplicateRate: 1 });
    expect(twice).toHaveLength(8);
    expect(new Set(contentsOf(twice)).size).toBe(4);
  });

  it('repeats rules of the skill too, and overrules them when it does harm', async () => {
    const skill = `${initialSkill}\n- ${ruleOf(first)}\n`;
    const repeated = new Set<string>();
    const overruled = new Set<string>();
    for (let seed = 0; seed < 60; seed++) {
      const messages = analystMessages({ items: onTopic(second, 1), skill });
      for (const edit of (await ask(messages, { seed, duplicateRate: 1 })).patch.edits) repeated.add(edit.content);
      for (const edit of (await ask(messages, { seed, harmfulRate: 1 })).patch.edits) overruled.add(edit.content);
    }
    expect(repeated).toEqual(new Set([`- ${ruleOf(first)}`, `- ${ruleOf(second)}`]));
    expect(overruled).not.toContain(`- ${ruleOf(first)}`);
    expect([...overruled].some((content) => readRules(content).has(first))).toBe(true);
  });

  it('draws its mistakes by seed and prompt, never by the order of calls', async () => {
    const batches = rules.map(({ topic }) => analystMessages({ items: onTopic(topic, 2) }));
    const ask = async (order: ChatMessage[][]) => {
      const optimizer = simulatedOptimizer({ precision: 0.5, harmfulRate: 0.5 });
      return Promise.all(order.map(async (messages) => (await optimizer.complete({ messages })).text));
    };
    const forwards = await ask(batches);
    expect((await ask(batches.toReversed())).toReversed()).toEqual(forwards);
  });
});

describe('the success analyst', () => {
  const batch = { items: onTopic(settled, 2), outcome: 'succeeded' } as const;

  it('names what went well and leaves the skill alone', async () => {
    const { batch_size, success_patterns, patch } = await ask(analystMessages(batch));
    expect({ batch_size, patterns: success_patterns.length, edits: patch.edits }).toEqual({
      batch_size: 2,
      patterns: 1,
      edits: [],
    });
  });

  it('makes a harmless remark when it is not precise', async () => {
    const { patch } = await ask(analystMessages(batch), { precision: 0 });
    expect(patch.edits).toHaveLength(1);
    expect(REMARKS).toContain(patch.edits[0].content.slice(2));
  });
});

const edit = (content: string, support_count: number, source_type = 'failure'): Edit => ({
  op: 'append',
  target: '',
  content,
  support_count,
  source_type,
});
const patches = (...lists: Edit[][]) =>
  fence(
    'patches',
    JSON.stringify(
      lists.map((edits) => ({ reasoning: 'r', edits })),
      null,
      2,
    ),
  );

describe('the merge', () => {
  it('makes equal edits one, adds up their support, and orders by it', async () => {
    const block = patches(
      [edit('- A', 3), edit('- B', 4)],
      [edit('- A', 5), { ...edit('- A', 1), op: 'insert_after', target: 'x' }],
    );
    const { edits } = await ask(
      toMessages(SYSTEM.merge, [skillSection(''), `## Patches to merge (2, level 1)\n${block}`]),
    );
    expect(edits.map((one: Edit) => [one.op, one.content, one.support_count])).toEqual([
      ['append', '- A', 8],
      ['append', '- B', 4],
      ['insert_after', '- A', 1],
    ]);
  });

  it('puts failures before successes in the final merge; an edit that both want is a failure edit', async () => {
    const sections = [
      skillSection(''),
      `## Failure patch (high priority)\n${patches([edit('- A', 1), edit('- B', 2)])}`,
      `## Success patch\n${patches([edit('- C', 9, 'success'), edit('- A', 8, 'success')])}`,
    ];
    const { edits } = await ask(toMessages(SYSTEM.merge, sections));
    expect(edits.map((one: Edit) => [one.content, one.support_count, one.source_type])).toEqual([
      ['- A', 9, 'failure'],
      ['- B', 2, 'failure'],
      ['- C', 9, 'success'],
    ]);
  });

  it('leaves out what is not an edit', async () => {
    const block = fence(
      'patches',
      '[{"edits": [{"op": "burn"}, null, {"op": "append", "content": "- A"}]}, 7, {"edits": 3}]',
    );
    const { edits } = await ask(toMessages(SYSTEM.merge, [`## Patches to merge (3, level 1)\n${block}`]));
    expect(edits).toEqual([edit('- A', 1)]);
  });
});

describe('the ranking', () => {
  const rank = async (edits: readonly Edit[], { skill = '', keep = 2 } = {}) => {
    const list = edits.map((one, index) => `[${index}] ${JSON.stringify(one)}`).join('\n');
    const sections = [skillSection(skill), `## Edits (${edits.length}, keep at most ${keep})\n${fence('edits', list)}`];
    return (await ask(toMessages(SYSTEM.ranking, sections))).selected_indices;
  };

  it('takes failures first, then the best supported, up to the number allowed', async () => {
    const edits = [edit('- A', 9, 'success'), edit('- B', 2), edit('- C', 5), edit('- D', 2)];
    expect(await rank(edits)).toEqual([2, 1]);
    expect(await rank(edits, { keep: 4 })).toEqual([2, 1, 3, 0]);
  });

  it('skips what the skill says already, and what another edit says', async () => {
    const edits = [edit('- A', 9), edit('- B', 3), edit('- B', 2), edit('- C', 1)];
    expect(await rank(edits, { skill: 'Rules:\n- A\n', keep: 3 })).toEqual([1, 3]);
  });
});

describe('the simulated optimizer', () => {
  it.each([
    ['## Trajectories (1 failed)', 'failure_summary'],
    ['## Trajectories (1 succeeded)', 'success_patterns'],
    ['## Patches to merge (2, level 1)', 'edits'],
    ['## Failure patch (high priority)', 'edits'],
    ['## Edits (7, keep at most 4)', 'selected_indices'],
  ])('is told its work by the heading %s when the system text is in other words', async (heading, key) => {
    expect(await ask(toMessages('Improve the skill.', [skillSection(''), heading]))).toHaveProperty(key);
  });

  it('has every knob that changes answers in its id, and no other', () => {
    const id = (options = {}) => simulatedOptimizer(options).id;
    expect(id({ latencyMs: 5, failureRate: 0.5 })).toBe(id());
    const changed = [{}, { seed: 8 }, { precision: 1 }, { harmfulRate: 0 }, { duplicateRate: 0 }];
    expect(new Set(changed.map(id)).size).toBe(5);
  });

  it('answers again when its reply is shown an error', async () => {
    const messages = analystMessages({ items: onTopic(first, 1) });
    const complaint = {
      role: 'user',
      content: 'That reply cannot be used. Answer with the JSON object alone.',
    } as const;
    const { patch } = await ask([...messages, { role: 'assistant', content: 'Well …' }, complaint]);
    expect(contentsOf(patch.edits)).toEqual([`- ${ruleOf(first)}`]);
  });
});
