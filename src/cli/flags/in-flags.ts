import type { Check } from '../../app/index.ts';
import type { SkillError } from '../../core/contracts/index.ts';

/** The flag of a key. Here, and not beside the flags, so that an error is printed without loading what parses them. */
export const flagOf = (key: string): string => `--${kebabCase(key)}`;

export const kebabCase = (key: string) => key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

const LIMITS = /\bmax(?:Calls|TotalTokens|TokensPerNight|CostUsd|Minutes)\b/g;

/** What the library advises, and how the same is done on the command line. */
const ADVICE: readonly (readonly [string, string])[] = [
  ['(outRoot)', '(--run)'],
  ['move this run away', 'start over (--fresh)'],
  ['take back what was applied.', 'take back what was applied: skillopt apply RUN --undo'],
  ['Start again', 'Run the same command again'],
  ['start again', 'run the same command again'],
  ['or choose another split', 'or choose another with --split'],
  ['Look at them in the plan of the night,', 'Look at them with skillopt sleep run --plan --page all,'],
  ['or force it to be overwritten.', 'or overwrite it: --force'],
  ['They are for a night of sleep.', 'They are for a night: skillopt sleep run --tasks FILE.'],
  ['agree once: consent ', 'agree once: --consent '],
  ['or name a model: target: provider:model', 'or name a model: --target PROVIDER:MODEL, or target: PROVIDER:MODEL'],
  [
    'Name a folder with a SKILL.md, or a document.',
    'Name a folder with a SKILL.md, or a document: skillopt tasks draft --skill PATH',
  ],
  ['Name one, such as openai:MODEL (', 'Name one: --model openai:MODEL ('],
  ['Name a file that does not exist yet.', 'Name a new one: --fix --out clean.jsonl'],
  ['or continue anyway.', 'or continue anyway: --force'],
  ['or ignore the estimate.', 'or begin all the same: --ignore-estimate.'],
  [
    'Give the path of the older document as the baseline instead.',
    'Give the path of the older document instead: --baseline OLD.md',
  ],
  ['or choose another split (val, or all for documents).', 'or choose another (--split val, or all for documents).'],
  ['find the tasks: llmMine: false.', 'find the tasks: --no-llm-mine.'],
  ['Turn llmMine on, or let rules find the tasks.', 'Turn it on with --llm-mine, or leave --with-model out.'],
  ['Name a real optimizer, or let rules', 'Name a real one with --optimizer, or leave --with-model out: rules'],
  ['Name another optimizer, or let rules', 'Name another with --optimizer, or leave --with-model out: rules'],
  ['limit the night with maxMinutes or maxCalls.', 'limit the night with --max-minutes or --max-calls.'],
  ['Agree to these lines, or drop some in a review.', 'Agree with --marked, or drop some: skillopt sleep review'],
  ['tasks: tasks.jsonl', 'tasks: tasks.jsonl in the project file, or --tasks PATH'],
];

/** A text of the library that speaks of limits, with their flags. */
export const limitsAsFlags = (text: string): string => text.replace(LIMITS, flagOf);

type Told = Pick<SkillError, 'code' | 'message' | 'hint'>;

/** An error of the library in the words of the command line: flags where it names settings. */
export function inFlags({ code, message, hint }: Told): { message: string; hint?: string } {
  const translate = (text: string) => (code === 'BUDGET_EXHAUSTED' ? limitsAsFlags(text) : text);
  if (hint === undefined) return { message: translate(message) };
  const advice = ADVICE.reduce((text, [ours, theirs]) => text.replaceAll(ours, theirs), hint);
  return { message: translate(message), hint: translate(advice) };
}

export function checkInFlags({ code, ...found }: Check): Omit<Check, 'code'> {
  if (code === undefined) return found;
  const { message: detail, hint: remedy } = inFlags({ code, message: found.detail, hint: found.remedy });
  return { ...found, detail, ...(remedy === undefined ? {} : { remedy }) };
}
