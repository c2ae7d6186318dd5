import { readQuestion } from './topics.ts';
import type { World } from './world.ts';

/**
 * The skill of a world as a folder: the one that states no rule, and a page of worked examples, one of each kind of fact. The
 * simulated target follows rules and learns nothing from examples; a drafter can tell from them what the house wants.
 */
export function worldSkillFolder({ items, initialSkill }: World): Readonly<Record<'SKILL.md' | 'examples.md', string>> {
  const first = new Map(items.train.toReversed().map((item) => [item.taskType, item]));
  const examples = [...first.values()]
    .toReversed()
    .map(({ question, answers }) => `${question}\nAnswer: ${answers[0]}`);
  return {
    'SKILL.md': `${initialSkill}\nWorked examples are in [examples.md](examples.md).\n`,
    'examples.md': `# Worked examples\n\n${examples.join('\n\n')}\n`,
  };
}

/** How worked examples in a text write each kind of fact, by topic; `undefined` is the usual way. The last one holds. */
export function stylesInExamples(text: string) {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const found = lines.flatMap((line, place) => {
    const reading = readQuestion(line);
    const answer = lines[place + 1]?.match(/^\s*Answer: (.+?)\s*$/)?.[1];
    if (!reading || answer === undefined) return [];
    const style = [undefined, ...reading.topic.variants].findIndex((variant) => reading.answer(variant) === answer);
    return style === -1 ? [] : [[reading.topic, reading.topic.variants[style - 1]] as const];
  });
  return new Map(found);
}
