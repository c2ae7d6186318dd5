import type { Command, Option } from 'commander';

/** What other tools of the field call it. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  budget: 'max-cost-usd',
  concurrency: 'workers',
  cost: 'max-cost-usd',
  data: 'tasks',
  dataset: 'tasks',
  file: 'config',
  'learning-rate': 'edit-budget',
  lr: 'edit-budget',
  model: 'target',
  out: 'run',
  output: 'run',
  parallel: 'workers',
  prompt: 'skill',
  'run-dir': 'run',
  timeout: 'call-timeout-ms',
};

/** A guess where spelling alone finds none: `--epochs` is `--num-epochs`, `--model` is `--target`. */
export function meantOption(message: string, { options }: Command): string | undefined {
  const typed = /^unknown option '--([\w-]+)/.exec(message)?.[1]?.toLowerCase();
  if (typed === undefined) return undefined;
  const names = options.flatMap(namesOf);
  const meant = names.find((name) => name === ELSEWHERE[typed]) ?? names.find((name) => holdsWords(name, typed));
  return meant === undefined ? undefined : `Did you mean --${meant}?`;
}

const namesOf = ({ long, short }: Option) =>
  [short, long].flatMap((name) => (name?.startsWith('--') ? name.slice(2) : []));

/** `num-epochs` holds `epochs`. */
const holdsWords = (name: string, typed: string) => `-${name}-`.includes(`-${typed}-`);
