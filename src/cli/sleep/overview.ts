import { lookbackFloor } from '../../sleep/harvest/choose-sessions.ts';
import { timeOf } from '../../sleep/harvest/cursor.ts';
import { readInstant } from '../../sleep/harvest/harvest.ts';
import { overview } from '../../sleep/harvest/overview.ts';
import { scopeTest } from '../../sleep/harvest/scope.ts';
import type { SessionHead } from '../../sleep/harvest/session-index.ts';
import { updateIndex } from '../../sleep/harvest/update-index.ts';
import { transcriptSources } from '../../transcripts/sources.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { harvestProgress } from './harvest-progress.ts';
import { type OpenSleep, openSleep, type SleepFlags } from './open-sleep.ts';
import { type NextCommands, overviewLines } from './overview-lines.ts';

/** What there is to learn from on this machine. Asks no model, and reads only what has changed since the last time. */
export async function showOverview(flags: SleepFlags, terminal: Terminal): Promise<void> {
  using sleep = await openSleep(flags, terminal);
  const isMeant = await meantTest(sleep, flags);
  const progress = harvestProgress(terminal);
  const update = await updateIndex({ ...sleep, now: Date.now(), onProgress: progress.show }).finally(progress.clear);
  const found = overview(sleep.index, { isIgnored: (head) => !isMeant(head) });
  const looked = sleep.sources.length > 0 ? sleep.sources : transcriptSources;
  const notes = {
    next: await nextCommands(sleep, flags, isMeant),
    damagedFiles: update.trouble.length,
    lookedAt: looked.flatMap((source) => source.roots(sleep.place)).map(sleep.redact),
  };
  terminal.answer({ ...found, trouble: update.trouble, filesRead: update.read }, overviewLines(found, notes, terminal));
}

type Meant = (head: SessionHead) => boolean;

/** All sessions of the agents asked for, unless a folder or a moment was named. */
async function meantTest({ sources, isIgnored, project, place }: OpenSleep, flags: SleepFlags): Promise<Meant> {
  const since = readInstant(flags.since) ?? 0;
  const inScope = await scopeTest(flags.project === undefined ? 'all' : [project], place);
  const names = new Set(sources.map(({ name }) => name));
  return (head) => names.has(head.source) && inScope(head.project) && !(timeOf(head) < since) && !isIgnored(head);
}

/** Flags with which the next command finds something, where there is something to find. */
async function nextCommands(sleep: OpenSleep, flags: SleepFlags, isMeant: Meant): Promise<NextCommands> {
  const { index, project, place, settings, redact } = sleep;
  const isHere = await scopeTest([project], place);
  const heads = index.files().flatMap((file) => file.heads.filter(isMeant));
  const usable = heads.filter(({ leftOut, prompts }) => leftOut === undefined && prompts > 0);
  const here = usable.filter((head) => isHere(head.project));
  const floor = lookbackFloor({ lookbackHours: settings.lookbackHours, now: Date.now() });
  const isRecent = (here.length > 0 ? here : usable).some((head) => !(timeOf(head) < floor));
  return {
    project: flags.project,
    here: redact(project),
    usableHere: here.length,
    lookbackHours: isRecent || flags.since !== undefined ? undefined : 0,
    since: flags.since,
  };
}
