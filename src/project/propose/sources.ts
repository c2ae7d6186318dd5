import { stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { SkillError } from '../../core/contracts/index.ts';
import { readNumber } from '../../core/judge/index.ts';
import { plural } from '../../core/text/index.ts';
import {
  asksModel,
  type LoadedTasks,
  loadTasks,
  type SplitSizes,
  sizesOf,
  type TaskOptions,
  tasksOf,
} from '../../envs/index.ts';
import { isTree, peekRows } from '../../imports/index.ts';
import type { FolderFindings } from '../discover/discover.ts';
import type { FolderFiles, FoundEnv, FoundSkill, FoundTasks } from '../discover/discover-files.ts';

export type Source =
  | { readonly kind: 'tasks'; readonly path: string; readonly tasks: FoundTasks }
  | { readonly kind: 'env'; readonly path: string; readonly env: FoundEnv }
  | { readonly kind: 'skillopt'; readonly path: string };

/** Skills with their own evals come first. */
export function skillsOf({ skills, tasks }: FolderFiles): readonly FoundSkill[] {
  const hasOwn = (skill: FoundSkill) => tasks.some(({ path }) => isIn(path, skill));
  return [...skills.filter(hasOwn), ...skills.filter((skill) => !hasOwn(skill))];
}

/** What the skill can be trained on, the likeliest first. Evals of other skills are left out. */
export function sourcesOf(found: FolderFindings, skill: FoundSkill | undefined): readonly Source[] {
  const others = found.skills.filter((other) => other !== skill && other.path !== 'SKILL.md');
  const usable = found.tasks.filter(({ path }) => !others.some((other) => isIn(path, other)));
  const ranked = usable.map((tasks) => ({ tasks, rank: rankOf(tasks, skill) }));
  ranked.sort((one, other) => one.rank - other.rank || (other.tasks.count ?? 1e9) - (one.tasks.count ?? 1e9));
  return [
    ...found.skillOptConfigs.map((path) => ({ kind: 'skillopt' as const, path })),
    ...found.envs.map((env) => ({ kind: 'env' as const, path: env.path, env })),
    ...ranked.map(({ tasks }) => ({ kind: 'tasks' as const, path: tasks.path, tasks })),
  ];
}

const isIn = (path: string, { path: skill }: FoundSkill) =>
  skill === 'SKILL.md' ? /^evals\//.test(path) : path.startsWith(`${skill}/`);

/** Files with a telling name or place come first. */
function rankOf({ path, format }: FoundTasks, skill: FoundSkill | undefined): number {
  if (/^tasks\./i.test(basename(path)) && dirname(path) === '.') return 0;
  if (skill && isIn(path, skill)) return 1;
  return format === 'promptfoo' ? 2 : format === 'evals' ? 3 : 4;
}

const FORMATS = {
  rows: ['task', 'tasks'],
  evals: ['eval of a skill', 'evals of a skill'],
  promptfoo: ['test of promptfoo', 'tests of promptfoo'],
} as const;

export function describeSource(source: Source): string {
  if (source.kind === 'env') return `${source.path} (an environment)`;
  if (source.kind === 'skillopt') return `${source.path} (a config of SkillOpt)`;
  const { count, atLeast, format, path } = source.tasks;
  const [one, many] = FORMATS[format];
  return `${path} (${count === undefined ? 'at least ' : ''}${plural(count ?? atLeast, one, many)})`;
}

export type WeighedTasks = {
  readonly count: number;
  readonly leftOut: number;
  readonly asksJudge: boolean;
  readonly sizes: SplitSizes;
  /** The size of a file that is too large for init. `count` is then a lower bound. */
  readonly largeBytes?: number;
  readonly problem?: string;
};

/** init must be quick: it reads only the first rows of larger files. */
const MAX_WEIGHED_BYTES = 2_000_000;
const NO_TASKS = { count: 0, leftOut: 0, asksJudge: false, sizes: { train: 0, val: 0, test: 0 } };

/** Reads a task file as a run would, or the head of a large one. Its problem is part of the answer. */
export async function weighTasks(path: string, options: TaskOptions): Promise<WeighedTasks> {
  try {
    const { size } = await stat(path);
    if (size <= MAX_WEIGHED_BYTES || isTree(path)) return weigh(await loadTasks(path, options));
    const { rows, atLeast } = await peekRows(path);
    return { ...weigh(tasksOf(rows, options)), count: atLeast, largeBytes: size };
  } catch (error) {
    if (!(error instanceof SkillError)) throw error;
    return { ...NO_TASKS, problem: error.message };
  }
}

function weigh({ rows, leftOut }: LoadedTasks): WeighedTasks {
  const asksJudge = rows.some(({ value }) => asksModel(value));
  const missing = leftOut.filter(({ kind }) => kind !== 'read');
  return { count: rows.length, leftOut: missing.length, asksJudge, sizes: sizesOf(rows) };
}

/** Without `scoring` it is the default. */
export type ProposedScoring = {
  readonly name: 'exact' | 'number' | 'rubric';
  readonly scoring?: string | Readonly<Record<string, unknown>>;
  readonly why: string;
};

/** Longer answers are rarely repeated word by word. */
const SHORT_LETTERS = 80;
const RUBRIC = 'The answer says what this reference says, and nothing that contradicts it:\n{answers}';

export const SCORINGS: Readonly<Record<ProposedScoring['name'], Omit<ProposedScoring, 'why'>>> = {
  exact: { name: 'exact' },
  number: { name: 'number', scoring: 'number' },
  rubric: { name: 'rubric', scoring: { kind: 'rubric', rubric: RUBRIC } },
};

export function proposeScoring(answers: readonly string[]): ProposedScoring {
  if (answers.length === 0) return { ...SCORINGS.exact, why: 'the tasks say themselves how they are scored' };
  if (answers.every(isNumber)) return { ...SCORINGS.number, why: 'every answer is a number' };
  const long = answers.filter((answer) => [...answer].length > SHORT_LETTERS);
  if (long.length > answers.length / 4)
    return { ...SCORINGS.rubric, why: 'the answers are long: a model compares what they say' };
  return { ...SCORINGS.exact, why: 'the answers are short: one of them must be given' };
}

/** A number, also with a currency or a unit. `a1` and `v1.1` are names. */
const isNumber = (answer: string) =>
  readNumber(answer) !== undefined &&
  /^(\p{Sc}|\p{Lu}{3} )?\s*[-+−]?[\d.][\d.,' ]*\s*(%|\p{Sc}|\p{L}{1,3})?$/u.test(answer.trim());
