import type { FakeRequest } from 'skillopt/testing';
import { tasksFileText } from '../../../../src/sleep/index.ts';
import { appends } from '../../../support/scripted-run.ts';
import type { SleepHome } from '../../../support/sleep/sleep-home.ts';
import { doneTasks, RULE } from '../../sleep/night/night-world.ts';

/** One model in all roles: as the agent it does what its documents say, as the analyst it proposes the rule. */
export function nightAnswer({ messages }: FakeRequest): string {
  const system = messages[0]!.content;
  if (!system.startsWith('You are a coding agent at work'))
    return JSON.stringify({ ...appends(RULE), ...appends(RULE).patch });
  return system.includes(RULE) ? 'As asked. DONE' : 'As asked.';
}

/** A file of tasks that a person has read, in the project. */
export function reviewedTasks(home: SleepHome): void {
  const text = tasksFileText({
    ...{ project: home.shop, transcriptSource: 'claude', nSessions: 3, targetSkillPath: '' },
    tasks: doneTasks(),
  });
  home.write('shop/tasks.json', text.replace('"reviewed": false', '"reviewed": true'));
}

export const nightFlags = (baseURL: string, ...flags: readonly string[]) => [
  'run',
  '--tasks',
  'tasks.json',
  '--target',
  `compatible:m@${baseURL}`,
  '--quiet',
  ...flags,
];
