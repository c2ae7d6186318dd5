import { SkillError } from '../core/contracts/index.ts';
import { plural } from '../core/text/index.ts';
import type { LoadedProject } from '../project/index.ts';
import { findingText } from '../report/index.ts';
import { shownPath } from '../stores/index.ts';
import { checkTasks, type Finding, type LoadedCheck, loadForCheck } from '../tasks/index.ts';

type Settings = Partial<
  Pick<LoadedProject['project'], 'env' | 'columns' | 'scoring' | 'splitRatio' | 'splitSeed' | 'splitBy' | 'judge'>
>;

export type CheckedFile = { readonly read: LoadedCheck; readonly findings: readonly Finding[] };

/** Is notified of what begins now. With many tasks it takes seconds, in which the process does nothing else. */
export type OnDoing = (what: string) => void;

/** What is wrong with the tasks at a path, read by these settings, for a skill with this text. Asks no model. */
export async function checkInputs(
  path: string,
  settings: Settings | undefined,
  skill = '',
  onDoing: OnDoing = () => {},
): Promise<CheckedFile> {
  const { judge, ...options } = settings ?? {};
  onDoing('reading the tasks');
  const read = await loadForCheck(shownPath(path), options);
  const hasJudge = settings === undefined || judge !== undefined;
  onDoing(`checking ${plural(read.tasks.length, 'task')}`);
  return { read, findings: checkTasks({ ...read, skill, hasJudge }) };
}

const isUntrue = ({ level }: Finding) => level === 'untrue';

/** How small a gain can be proven is said with the cost. */
const isAdvice = ({ level, code }: Finding) => level === 'note' || code === 'too-few';

/** The findings that people should know before they pay. What is only advice is for `tasks check`. */
export const inputWarnings = (findings: readonly Finding[], purpose: 'train' | 'score' = 'train'): string[] =>
  findings.filter((one) => !isAdvice(one) && (purpose === 'train' || one.code !== 'hardly-any')).map(findingText);

/** The error for tasks from which no true number can be measured. */
export function refusalOf(findings: readonly Finding[]): SkillError | undefined {
  const untrue = findings.filter(isUntrue);
  if (untrue.length === 0) return undefined;
  const others = inputWarnings(findings.filter((one) => !isUntrue(one)));
  const lines = [...untrue.map((one) => `${findingText(one)}. ${one.todo}`), ...others];
  const hint = 'All findings: skillopt tasks check. Correct the tasks, or continue anyway.';
  return new SkillError('TASKS_INVALID', ['no true number can be measured with these tasks:', ...lines].join('\n'), {
    hint,
  });
}

/** Whether the tasks of an environment are read here. */
export const hasOwnTasks = (env: string | undefined): boolean =>
  [undefined, 'qa', 'workspace', 'trigger'].includes(env);

/** What is wrong with the tasks of a project. Environments of its own know their tasks themselves. */
export async function checkProject({ project }: LoadedProject, skill: string): Promise<readonly Finding[] | undefined> {
  if (project.tasks === undefined || !hasOwnTasks(project.env)) return undefined;
  return (await checkInputs(project.tasks, project, skill)).findings;
}
