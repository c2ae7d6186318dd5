import type { SkillError } from '../../core/contracts/index.ts';

/** The flag of a key. Here, and not beside the flags, so that an error is printed without loading what parses them. */
export const flagOf = (key: string): string => `--${kebabCase(key)}`;

export const kebabCase = (key: string) => key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** Limits of a run that a message of the library may speak of. */
const LIMITS = /\bmax(?:Calls|TotalTokens|TokensPerNight|CostUsd|Minutes)\b/g;

/** What the library advises, and how the same is done on the command line. */
const ADVICE: readonly (readonly [string, string])[] = [
  ['(outRoot)', '(--run)'],
  ['move this run away', 'start over (--fresh)'],
  ['Start again', 'Run the same command again'],
  ['start again', 'run the same command again'],
  ['or choose another split', 'or choose another with --split'],
  ['Look at them in the plan of the night,', 'Look at them with skillopt sleep run --plan --page all,'],
  ['or force it to be overwritten.', 'or overwrite it: --force'],
  ['They are for a night of sleep.', 'They are for a night: skillopt sleep run --tasks FILE.'],
  ['agree once: consent ', 'agree once: --consent '],
  ['or name a model: target: provider:model', 'or name a model: --target PROVIDER:MODEL, or target: PROVIDER:MODEL'],
  ['find the tasks: llmMine: false.', 'find the tasks: --no-llm-mine.'],
  ['Turn llmMine on, or let rules find the tasks.', 'Turn it on with --llm-mine, or leave --with-model out.'],
  ['Name a real optimizer, or let rules', 'Name a real one with --optimizer, or leave --with-model out: rules'],
  ['Name another optimizer, or let rules', 'Name another with --optimizer, or leave --with-model out: rules'],
  ['tasks: tasks.jsonl', 'tasks: tasks.jsonl in the project file, or --tasks PATH'],
];

/** An error of the library in the words of the command line: flags where it names settings. */
export function inFlags({ code, message, hint }: SkillError): { message: string; hint?: string } {
  const translate = (text: string) => (code === 'BUDGET_EXHAUSTED' ? text.replace(LIMITS, flagOf) : text);
  if (hint === undefined) return { message: translate(message) };
  const advice = ADVICE.reduce((text, [ours, theirs]) => text.replaceAll(ours, theirs), hint);
  return { message: translate(message), hint: translate(advice) };
}
