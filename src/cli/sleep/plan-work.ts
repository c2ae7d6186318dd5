import { count, plural } from '../../core/text/index.ts';
import { agentTargetOf } from '../../project/index.ts';
import { isReplayable, type NightPlan, notReplayableText, type TaskRecord } from '../../sleep/index.ts';
import { describeKeptBack, openSandbox, projectFiles } from '../../workspaces/index.ts';
import type { OpenSleep } from './open-sleep.ts';

/** What an agent would do with tools; without one, how many tasks nobody can attempt. */
type PlannedWork = {
  readonly agent: string | null;
  readonly sandbox: string | null;
  /** Of the tasks that rules find. */
  readonly needFiles: number;
  readonly files: number;
  readonly leftOut: string;
};

/** Reads the names of the project's files, and copies nothing. */
export async function planWork(
  { models }: NightPlan,
  { project, redact }: OpenSleep,
  tasks: readonly TaskRecord[],
): Promise<PlannedWork> {
  const needFiles = tasks.filter((task) => !isReplayable(task)).length;
  const target = agentTargetOf(models);
  if (target === undefined) return { agent: null, sandbox: null, needFiles, files: 0, leftOut: '' };
  const { files, leftOut } = await projectFiles(project);
  const sandbox = openSandbox(target.sandbox).id;
  return { agent: target.agent, sandbox, needFiles, files: files.length, leftOut: redact(describeKeptBack(leftOut)) };
}

export function workLines({ agent, sandbox, needFiles, files, leftOut }: PlannedWork): string[] {
  if (agent === null) return needFiles === 0 ? [] : [notReplayableText(needFiles)];
  const copy = `${agent} does every task with tools (sandbox: ${sandbox}), each in a fresh copy of ${count(files)} files of this project`;
  return [
    `${copy}; of the tasks that rules find, ${plural(needFiles, 'needs', 'need')} them.`,
    ...(leftOut === '' ? [] : [`Left out of the copy: ${leftOut}.`]),
  ];
}
