import { join } from 'node:path';
import { adoptProposals } from '../../../app/index.ts';
import { findMemory, findSkill, runSleepCycle, SleepSettings } from '../../../sleep/index.ts';
import type { PlayNight } from './demo-sleep.ts';

/** A night as `skillopt sleep run` spends it, with the person's own models; in the morning what it staged is adopted. */
export const demoNight: PlayNight = async ({ home, project, now, person, signal }) => {
  const place = { env: {}, home, platform: 'linux' as const };
  const stateFolder = join(home, 'state');
  const { target, judge, optimizer } = person;
  const { report, proposals } = await runSleepCycle({
    ...{ project, place, stateFolder, target, judge, optimizer, signal, agent: 'claude', now: () => now },
    settings: { source: 'claude', maxTokensPerNight: 50_000_000 },
    config: { workers: 64 },
  });
  if (proposals.length > 0) await adoptProposals({ stateFolder, choose: () => proposals });
  const search = { agent: 'claude', place, project, settings: SleepSettings.parse({}) };
  // An edit that was rejected for one document may have been taken for the other.
  const isTaken = (content: string) => report.edits.some((edit) => edit.content === content);
  return {
    sessions: report.nSessions,
    tasks: report.nTasks,
    calls: report.calls,
    rejected: report.rejectedEdits.filter(({ content }) => !isTaken(content)).map(({ content }) => ruleOf(content)),
    quarantined: report.quarantined.map(({ content, reason }) => ({ ...ruleOf(content), why: reason })),
    whyNothing: report.documents.length === 0 ? report.needs || report.noEditsReason : report.noEditsReason,
    documents: { skill: learnedIn(await findSkill(search)), memory: learnedIn(await findMemory(search)) },
  };
};

const ruleOf = (content: string) => ({ text: content.replace(/^- /, '') });

/** The agent reads nothing of a document that does not exist yet. */
const learnedIn = ({ live, text }: Awaited<ReturnType<typeof findSkill>>) => (live.bytes === null ? '' : text);
