import { join } from 'node:path';
import {
  adopt,
  cursorsOf,
  findMemory,
  findSkill,
  type GatheredNight,
  harvest,
  mineTasks,
  openSessionIndex,
  openSleepState,
  prepareTasks,
  runSleepCycle,
  SleepSettings,
  type SleepState,
} from '../../../sleep/index.ts';
import { claude, redactor } from '../../../transcripts/index.ts';
import type { PlayNight } from './play-week.ts';

type Evening = Parameters<PlayNight>[0];

/** A night as `skillopt sleep run` spends it, with the person's own models; in the morning what it staged is adopted. */
export const demoNight: PlayNight = async (evening) => {
  const { home, project, now, person, signal } = evening;
  const settings = SleepSettings.parse({ maxTokensPerNight: 50_000_000 });
  const place = { env: {}, home, platform: 'linux' as const };
  const folder = join(home, 'state');
  const search = { agent: 'claude', place, project, settings };
  const { target, judge, optimizer } = person;
  const find = async () => [await findSkill(search), await findMemory(search)];
  const { report, proposals } = await runSleepCycle({
    ...{ folder, project, agent: 'claude', settings, modelKey: 'simulated', redact: redactor(place), signal },
    models: { target, judge, optimizer },
    documents: await find(),
    gather: (state) => gather(evening, folder, settings, state),
    now: () => now,
    config: { workers: 64 },
  });
  if (proposals.length > 0) {
    await using open = await openSleepState(folder);
    await adopt({ open, proposals, at: now.toISOString() });
  }
  const [skill, memory] = await find();
  // Rejected for the one document, it may have been taken for the other.
  const isTaken = (content: string) => report.edits.some((edit) => edit.content === content);
  return {
    sessions: report.nSessions,
    tasks: report.nTasks,
    calls: report.calls,
    rejected: report.rejectedEdits.filter(({ content }) => !isTaken(content)).map(({ content }) => ruleOf(content)),
    quarantined: report.quarantined.map(({ content, reason }) => ({ ...ruleOf(content), why: reason })),
    whyNothing: report.documents.length === 0 ? report.needs || report.noEditsReason : report.noEditsReason,
    documents: { skill: learnedIn(skill!), memory: learnedIn(memory!) },
  };
};

const ruleOf = (content: string) => ({ text: content.replace(/^- /, '') });

/** Of a document that is not there yet, nothing is read by the agent. */
const learnedIn = ({ live, text }: Awaited<ReturnType<typeof findSkill>>) => (live.bytes === null ? '' : text);

async function gather(
  { home, project, now, person, signal }: Evening,
  folder: string,
  settings: SleepSettings,
  state: SleepState,
): Promise<GatheredNight> {
  const place = { env: {}, home, platform: 'linux' as const };
  using index = await openSessionIndex(folder);
  const cursors = cursorsOf(state, project);
  const found = await harvest({
    ...{ index, place, sources: [claude], scope: [project], cursors, signal },
    now: now.getTime(),
    redact: redactor(place),
  });
  const earlier = state.taskArchive.map(({ task }) => task);
  const mined = await mineTasks(found.sessions, { miner: person.optimizer, earlier, seed: settings.seed, signal });
  const { tasks, notReplayable, pooled } = prepareTasks(mined.tasks, earlier, settings);
  const recurring = mined.groups
    .filter(({ sessionIds }) => sessionIds.length > 1)
    .map(({ intent, sessionIds, dates }) => ({ intent, sessions: sessionIds.length, days: dates.length }));
  const { sessions, newCursor } = found;
  return {
    nSessions: sessions.length,
    recurring,
    notReplayable,
    pooled,
    tasks: [...tasks],
    cursors: newCursor,
    notes: [],
  };
}
