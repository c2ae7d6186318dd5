import { z } from 'zod';
import type { ChatModel } from '../../../src/core/contracts/index.ts';
import { judgeAnswer } from '../../../src/public/judges.ts';
import type { PersonTask } from '../../../src/public/sim.ts';
import { assignSplits } from '../../../src/public/sleep.ts';
import { mean } from '../interval.ts';
import { countCalls, type CountedModels as Models } from './count-calls.ts';
import type { Blocks, NightRunner } from './runner.ts';

/**
 * A night as the reference spends it: one sample of each validation task, and whatever has the higher mean is better. Edits of
 * one reflection are judged together; the skill first, then the memory under the better of both skills.
 */
export const referenceNight: NightRunner = async ({ person, day, state, documents, seed }) => {
  const { train, val } = splitsOf(person.tasksOf(day), seed);
  const counted = countCalls(person);
  const score = (blocks: Blocks) => scoreOnce(val, blocks, counted);
  const baseline = val.length === 0 ? Number.POSITIVE_INFINITY : await score(state.blocks);
  let [best, bestScore] = [state.blocks, baseline];
  for (const document of documents) {
    const lines = await reflect(train, best, document, counted);
    const trial = { ...best, [document]: [best[document], ...lines].join('\n').trim() };
    const trialScore = val.length === 0 || lines.length === 0 ? baseline : await score(trial);
    if (trialScore > bestScore) [best, bestScore] = [trial, trialScore];
  }
  const changed = documents.filter((document) => best[document] !== state.blocks[document]);
  const gain = bestScore - baseline;
  const staged = changed.map((document, at) => ({ document, block: best[document], gain: at === 0 ? gain : null }));
  return { staged, calls: counted.calls() };
};

function splitsOf(tasks: readonly PersonTask[], seed: number) {
  const isSplit = tasks.some(({ split }) => split !== 'train');
  const split = isSplit ? tasks : assignSplits(tasks, { seed });
  return { train: split.filter((task) => task.split === 'train'), val: split.filter((task) => task.split === 'val') };
}

async function attempt({ intent }: PersonTask, { skill, memory }: Blocks, target: ChatModel): Promise<string> {
  const system = `# Skill\n${skill}\n\n# Memory\n${memory}`;
  const messages = [
    { role: 'system' as const, content: system },
    { role: 'user' as const, content: intent },
  ];
  return (await target.complete({ messages })).text;
}

async function judgeOnce(task: PersonTask, answer: string, judge: ChatModel) {
  const { intent: question, reference: rubric } = task;
  const { score, judgements } = await judgeAnswer({ judge, question, answer, rubric, repeats: 1 });
  return { score: score ?? 0, reason: judgements[0]?.reason ?? '' };
}

async function scoreOnce(tasks: readonly PersonTask[], blocks: Blocks, { target, judge }: Models): Promise<number> {
  const scores = tasks.map(async (task) => (await judgeOnce(task, await attempt(task, blocks, target), judge)).score);
  return mean(await Promise.all(scores));
}

const MOST_SHOWN = 8;
const MOST_EDITS = 4;
const Edits = z.array(z.object({ content: z.string() }));

/** Failures in one prompt, and new lines for the document as the reply. */
async function reflect(
  train: readonly PersonTask[],
  blocks: Blocks,
  document: keyof Blocks,
  { target, judge, optimizer }: Models,
): Promise<string[]> {
  const tried = train.map(async (task) => {
    const answer = await attempt(task, blocks, target);
    return { task, answer, ...(await judgeOnce(task, answer, judge)) };
  });
  const failures = (await Promise.all(tried)).filter(({ score }) => score < 1).slice(0, MOST_SHOWN);
  if (failures.length === 0) return [];
  const shown = failures.map(({ task, answer, reason }) => `## Task\n${task.intent}\ngot: ${answer}\nwhy: ${reason}`);
  const head = `Edit the ${document}:\n${blocks[document]}\nAt most ${MOST_EDITS} edits, a JSON array of {"op", "content", "anchor"}.`;
  const { text } = await optimizer.complete({ messages: [{ role: 'user', content: [head, ...shown].join('\n\n') }] });
  const edits = Edits.parse(JSON.parse(text)).map(({ content }) => `- ${content}`);
  return [...new Set(edits)].filter((line) => !blocks[document].includes(line)).slice(0, MOST_EDITS);
}
