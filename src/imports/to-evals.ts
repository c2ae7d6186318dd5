import { WorkspaceTask, type WorkspaceTaskInput } from '../core/judge/index.ts';
import { EXPECTED } from './evals.ts';
import type { FileContents, LeftOut } from './left-out.ts';

export type WrittenEvals = {
  /** What goes into `evals/evals.json`. */
  readonly evals: { readonly skill_name: string; readonly evals: readonly object[] };
  /** What goes into the folder of the skill beside it. */
  readonly contents: FileContents;
  readonly leftOut: readonly LeftOut[];
};

/** Tasks as skill-creator's evals. Read again they are the same tasks, but for what evals cannot say, which is named. */
export function toEvals(tasks: readonly WorkspaceTaskInput[], skillName: string): WrittenEvals {
  const read = tasks.map((task) => WorkspaceTask.parse(task));
  const files = Object.assign({}, ...read.map((task) => task.files)) as Record<string, string>;
  const binaries = Object.assign({}, ...read.map((task) => task.binaries)) as Record<string, string>;
  return {
    evals: { skill_name: skillName, evals: read.filter(({ rubric }) => rubric !== undefined).map(toEval) },
    contents: { files, binaries },
    leftOut: read.flatMap((task) => [...unsaid(task), ...clashes(task, { files, binaries })]),
  };
}

function toEval({ id, prompt, rubric = [], files, binaries }: WorkspaceTask): object {
  const isExpected = rubric[0]?.startsWith(EXPECTED) ?? false;
  const paths = [...Object.keys(files ?? {}), ...Object.keys(binaries ?? {})];
  const statements = isExpected ? rubric.slice(1) : rubric;
  return {
    id: /^(?:0|[1-9]\d{0,14})$/.test(id) ? Number(id) : id,
    prompt,
    ...(isExpected ? { expected_output: rubric[0]!.slice(EXPECTED.length) } : {}),
    ...(paths.length === 0 ? {} : { files: paths }),
    ...(statements.length === 0 ? {} : { expectations: statements }),
  };
}

const UNSAID = ['from', 'at', 'setup', 'verify', 'limits', 'taskType'] as const;

function unsaid(task: WorkspaceTask): LeftOut[] {
  const name = (what: string, why: string) => ({ where: task.id, what, why });
  if (task.rubric === undefined) return [name('the task', 'an eval is judged by statements, and it has none')];
  return [
    ...UNSAID.filter((key) => task[key] !== undefined).map((key) => name(key, 'an eval has no place for it')),
    ...(task.keepHistory ? [name('keepHistory', 'an eval has no place for it')] : []),
    ...(task.assertions.length > 0 ? [name('assertions', 'those of an eval are statements for a model')] : []),
  ];
}

/** All evals share one folder. */
function clashes(task: WorkspaceTask, all: Required<FileContents>): LeftOut[] {
  const own = { ...task.files, ...task.binaries };
  const shared = { ...all.files, ...all.binaries };
  const others = Object.keys(own).filter((path) => own[path] !== shared[path]);
  return others.map((what) => ({ where: task.id, what, why: 'another task has another file of this name' }));
}
