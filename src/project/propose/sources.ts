import { basename, dirname } from 'node:path';
import { plural } from '../../core/text/index.ts';
import type { Found, FoundEnv, FoundFiles, FoundSkill, FoundTasks } from '../discover/found.ts';

/** What a skill is trained on. */
export type Source =
  | { readonly kind: 'tasks'; readonly path: string; readonly tasks: FoundTasks }
  | { readonly kind: 'env'; readonly path: string; readonly env: FoundEnv }
  | { readonly kind: 'skillopt'; readonly path: string };

/** Skills, the one that brings its own evals first. */
export function skillsOf({ skills, tasks }: FoundFiles): readonly FoundSkill[] {
  const hasOwn = (skill: FoundSkill) => tasks.some(({ path }) => isIn(path, skill));
  return [...skills.filter(hasOwn), ...skills.filter((skill) => !hasOwn(skill))];
}

/** What the skill can be trained on, the likeliest first. Evals of another skill are not. */
export function sourcesOf(found: Found, skill: FoundSkill | undefined): readonly Source[] {
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

/** Files that say by name or place what they are for come first. */
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

/** A source in a few words. */
export function describeSource(source: Source): string {
  if (source.kind === 'env') return `${source.path} (an environment)`;
  if (source.kind === 'skillopt') return `${source.path} (a config of SkillOpt)`;
  const { count, atLeast, format, path } = source.tasks;
  const [one, many] = FORMATS[format];
  return `${path} (${count === undefined ? 'at least ' : ''}${plural(count ?? atLeast, one, many)})`;
}
