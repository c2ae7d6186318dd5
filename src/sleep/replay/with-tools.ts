import type { NightRecord } from '../night/night-record.ts';
import { isReplayable } from './replayable.ts';

/** Tasks that an agent attempted with tools, and how many of them could not have been attempted otherwise. */
export type WithTools = {
  readonly tasks: number;
  readonly needFiles: number;
  readonly agent: string;
  readonly sandbox: string;
};

export function withToolsOf({ tasks, work }: Pick<NightRecord, 'tasks' | 'work'>): WithTools | null {
  if (work === undefined) return null;
  const needFiles = tasks.filter((task) => !isReplayable(task)).length;
  return { tasks: tasks.length, needFiles, agent: work.agent, sandbox: work.sandbox };
}

/** Such as: 12 tasks replayed with tools (sandbox: bubblewrap), 4 of which need files or tools. Empty, where none was. */
export function withToolsText(withTools: WithTools | null | undefined): string {
  if (!withTools) return '';
  const { tasks, needFiles, sandbox } = withTools;
  return `${tasks} ${tasks === 1 ? 'task' : 'tasks'} replayed with tools (sandbox: ${sandbox}), ${needFiles} of which ${needFiles === 1 ? 'needs' : 'need'} files or tools`;
}

/** How tasks that need files come to be attempted. */
const HOW_TO_REPLAY =
  'name an agent as the target, and it does them in a copy of this project: target: { agent: claude }';

/** Of tasks that are left out, and what to do about it. Empty, where there are none. */
export const notReplayableText = (tasks: number): string =>
  tasks === 0
    ? ''
    : `${tasks} ${tasks === 1 ? 'task needs' : 'tasks need'} files or tools: not replayable yet; ${HOW_TO_REPLAY}`;
