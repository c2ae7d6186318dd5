import { describe, expect, it } from 'vitest';
import {
  BUDGET_LINES,
  dataSection,
  HEADINGS,
  promptSection,
  type RolloutResult,
  skillSection,
} from '../../../../src/core/contracts/index.ts';
import { type PersonTask, type SimulatedPersonOptions, simulatedPerson } from '../../../../src/public/sim.ts';
import { mineTasks } from '../../../../src/public/sleep.ts';
import { HARMS, REMARKS } from '../../../../src/sim/person/kind.ts';

const days = Array.from({ length: 10 }, (_, at) => at + 1);

/** Attempts without any rule, in the way that analysts see them. */
async function failedAttempts(person: ReturnType<typeof simulatedPerson>, tasks: readonly PersonTask[]) {
  return Promise.all(
    tasks.map(async ({ id, intent, reference }): Promise<RolloutResult> => {
      const { text } = await person.target.complete({ messages: [{ role: 'user', content: intent }] });
      return { id, hard: 0, soft: 0.4, question: intent, referenceText: reference, predictedAnswer: text };
    }),
  );
}

async function proposals(options: SimulatedPersonOptions, { skill = '', around = '', sampleIndex = 0 } = {}) {
  const person = simulatedPerson({ seed: 5, harmfulRate: 0, ...options });
  const tasks = days.flatMap((day) => person.tasksOf(day)).slice(0, 12);
  const attempts = await failedAttempts(person, tasks);
  const blocks = attempts.map(({ id, question, predictedAnswer, referenceText }) =>
    dataSection(
      HEADINGS.trajectories,
      'trajectory',
      `id: ${id}\nquestion: ${question}\nreference: ${referenceText}\npredicted: ${predictedAnswer}`,
      '1 failed',
    ),
  );
  const user = [
    skillSection(skill),
    dataSection(HEADINGS.surroundings, 'surroundings', around),
    promptSection(HEADINGS.editBudget, BUDGET_LINES.atMost(12, 'edit')),
    ...blocks,
  ].join('\n\n');
  const messages = [
    { role: 'system' as const, content: 'Answer with "failure_summary" and "patch".' },
    { role: 'user' as const, content: user },
  ];
  const { text } = await person.optimizer.complete({ messages, sampleIndex });
  const { edits } = JSON.parse(text).patch as { edits: { op: string; content: string }[] };
  return { person, contents: edits.map(({ content }) => content.replace(/^- /, '')) };
}

describe('the optimizer of a simulated person', () => {
  it('finds the rules that the attempts lack when it is always right, and then the true score rises', async () => {
    const { person, contents } = await proposals({ precision: 1 });
    const before = person.trueScore('', '');
    expect(contents.length).toBeGreaterThan(4);
    for (const content of contents) expect(person.trueScore(content, '')).toBeGreaterThan(before + 0.01);
  });

  it('proposes what changes nothing when it is never right, and what harms when it is told to', async () => {
    const useless = await proposals({ precision: 0 });
    expect(useless.contents.filter((content) => !REMARKS.includes(content))).toEqual([]);
    const harmful = await proposals({ precision: 0, harmfulRate: 1 });
    expect(harmful.contents.filter((content) => !HARMS.includes(content))).toEqual([]);
  });

  it('is right about as often as it is said, and differs from sample to sample', async () => {
    const samples = await Promise.all(days.map((sampleIndex) => proposals({ precision: 0.55 }, { sampleIndex })));
    const all = samples.flatMap(({ contents }) => contents);
    const right = all.filter((content) => !REMARKS.includes(content)).length / all.length;
    expect(right).toBeGreaterThan(0.4);
    expect(right).toBeLessThan(0.7);
    expect(new Set(samples.map(({ contents }) => contents.join('|'))).size).toBeGreaterThan(1);
  });

  it('does not say again what the document says, and says what was rejected in other words', async () => {
    const first = await proposals({ precision: 1 });
    const [stated, ...others] = first.contents;
    const around = `The document:\n${stated}\n\nRejected on earlier nights:\n${others.join('\n')}`;
    const second = await proposals({ precision: 1 }, { around });
    expect(second.contents).toHaveLength(others.length);
    expect(second.contents.filter((content) => others.includes(content))).toEqual([]);
  });

  describe('asked to contrast attempts', () => {
    const person = simulatedPerson({ seed: 5, precision: 1 });
    const contrast = async (system: string, asked: string) => {
      const [task] = person.tasksOf(1);
      const { text: bad } = await person.target.complete({ messages: [{ role: 'user', content: task!.intent }] });
      const messages = [
        { role: 'system' as const, content: system },
        { role: 'user' as const, content: `## Task\n${task!.intent}\nworse: ${bad}\n\n${asked}` },
      ];
      return JSON.parse((await person.optimizer.complete({ messages })).text);
    };
    const isBetter = (text: string) => person.trueScore(text, '') > person.trueScore('', '');

    it('answers with a list of edits', async () => {
      const edits = await contrast('Compare.', 'Answer with a JSON array of {"op", "content", "anchor", "rationale"}.');
      expect(edits[0]).toMatchObject({ op: 'add', anchor: '' });
      expect(isBetter(edits[0].content)).toBe(true);
    });

    it('answers with a patch when that is asked for', async () => {
      const { patch } = await contrast('Good and bad side by side. Answer with "failure_summary" and "patch".', '');
      expect(isBetter(patch.edits[0].content)).toBe(true);
    });
  });
});

describe('the miner of a simulated person', () => {
  it('turns sessions into the tasks of a perfect miner, with most of their wishes, and none out of small talk', async () => {
    const person = simulatedPerson({ seed: 5 });
    const digests = days.flatMap((day) => person.day(day));
    const { tasks } = await mineTasks(digests, { miner: person.optimizer, maxTasks: 100 });
    const perfect = new Map(days.flatMap((day) => person.tasksOf(day)).map((task) => [task.intent, task.reference]));
    expect(tasks.length).toBeGreaterThan(30);
    for (const { intent } of tasks) expect(perfect.has(intent)).toBe(true);
    const same = tasks.filter(({ intent, reference }) => perfect.get(intent) === reference);
    expect(same.length / tasks.length).toBeGreaterThan(0.7);
  });

  it('falls for a plainly pasted poison, and never for a quoted one', async () => {
    const poisonedDays = Array.from({ length: 30 }, (_, at) => at + 1);
    const person = simulatedPerson({ seed: 5, poisonedDays, gullibility: 1 });
    const digests = poisonedDays.flatMap((day) => person.day(day));
    const { tasks } = await mineTasks(digests, { miner: person.optimizer, maxTasks: 500 });
    const isPoisoned = (text: string) => /example|previous instructions|<!--/.test(text);
    const plain = digests.filter(({ userPrompts }) => userPrompts[0]!.includes('This is what the page says:'));
    const fallen = tasks.filter(({ reference }) => isPoisoned(reference));
    expect(plain.length).toBeGreaterThan(3);
    expect(fallen.length).toBe(plain.length);
  });
});
