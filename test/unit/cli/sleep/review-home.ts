import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FakeRequest } from 'skillopt/testing';
import { nightFolder, readSleepState, type TaskRecord } from '../../../../src/sleep/index.ts';
import { writeNight } from '../../../../src/sleep/state/nights.ts';
import { appends } from '../../../support/scripted-run.ts';
import { type SleepHome, sleepHome } from '../../../support/sleep/sleep-home.ts';
import { sleepTask } from '../../../support/sleep/sleep-tasks.ts';
import { propose } from './pending.ts';

export const RULES = ['- End every answer with DONE.', '- Be careful with every detail.'];
export const [USEFUL, USELESS] = RULES as [string, string];

/** As the agent it says DONE when a rule wants it; as the analyst it proposes the rule. */
export function answer({ messages }: FakeRequest): string {
  const system = messages[0]!.content;
  if (!system.startsWith('You are a coding agent at work'))
    return JSON.stringify({ ...appends(USEFUL, USELESS), ...appends(USEFUL, USELESS).patch });
  return system.includes('DONE') ? 'As asked. DONE' : 'As asked.';
}

export const tasks: TaskRecord[] = Array.from({ length: 12 }, (_, at) =>
  sleepTask(`t-${at}`, {
    split: at < 4 ? 'train' : 'val',
    referenceKind: 'rule',
    judge: { checks: [{ op: 'contains', arg: 'DONE' }] },
  }),
);

export const SKILL = { name: '.claude/skills/learned/SKILL.md', rule: RULES.join('\n') };
export const night = {
  night: 1,
  agent: 'claude',
  modelKey: 'm',
  error: 0.05,
  nSessions: 3,
  startedAt: '2026-03-10T00:00:00Z',
};

/** A home in which a night has proposed both rules. */
export async function reviewHome(pending: Parameters<typeof propose>[1] = SKILL) {
  const home = sleepHome();
  home.write('shop/CLAUDE.md', '# Shop\n');
  const proposal = await propose(home, pending);
  const record = {
    format: 'skillopt_sleep.night.v1',
    ...night,
    project: home.shop,
    tasks,
    digests: {},
    status: 'done',
  };
  const rest = { recurring: [], notReplayable: 0, pooled: 0, notes: [], tasksFrom: '', spent: '' };
  await writeNight(nightFolder(home.state, home.shop, 1), { ...record, ...rest } as never);
  return Object.assign(home, { proposal });
}

export const proposals = async ({ state }: SleepHome) => (await readSleepState(state)).proposals;
export const proposedText = (home: SleepHome) =>
  readFileSync(join(nightFolder(home.state, home.shop, '1'), 'proposed.md'), 'utf8');
export const review = (url: string, ...flags: string[]) => [
  'review',
  '--target',
  `compatible:m@${url}`,
  '--quiet',
  ...flags,
];
