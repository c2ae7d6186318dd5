import { plural } from '../../core/text/index.ts';
import {
  folderOf,
  lookbackFloor,
  overview,
  readInstant,
  type SessionHead,
  scopeTest,
  timeOf,
  updateIndex,
} from '../../sleep/index.ts';
import { transcriptSources } from '../../transcripts/index.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { harvestProgress } from './gather/harvest-progress.ts';
import { type OpenSleep, openSleep, type SleepFlags } from './open-sleep.ts';
import { type NextCommands, overviewLines } from './overview-lines.ts';
import { troubleLines } from './trouble-lines.ts';

/** What there is to learn from on this machine. Asks no model, and reads only what has changed since the last time. */
export async function showOverview(flags: SleepFlags, terminal: Terminal): Promise<void> {
  using sleep = await openSleep(flags, terminal);
  const whyNot = await meantTest(sleep, flags);
  const isMeant = (head: SessionHead) => whyNot(head) === undefined;
  const progress = harvestProgress(terminal);
  const update = await updateIndex({ ...sleep, now: Date.now(), onProgress: progress.show }).finally(progress.clear);
  const found = overview(sleep.index, { isIgnored: (head) => !isMeant(head) });
  const looked = sleep.sources.length > 0 ? sleep.sources : transcriptSources;
  const heads = sleep.index.files().flatMap((file) => file.heads);
  const notes = {
    next: await nextCommands(sleep, flags, heads.filter(isMeant)),
    trouble: troubleLines(update.trouble, sleep.redact, terminal),
    lookedAt: looked.flatMap((source) => source.roots(sleep.place)).map(sleep.redact),
    notMeant: countReasons(heads.flatMap((head) => whyNot(head) ?? [])),
  };
  terminal.answer({ ...found, trouble: update.trouble, filesRead: update.read }, overviewLines(found, notes, terminal));
}

/** Why a session is not meant: all of the agents asked for are, unless a folder or a moment was named. */
async function meantTest({ sources, isIgnored, project, place }: OpenSleep, flags: SleepFlags) {
  const since = readInstant(flags.since) ?? 0;
  const inScope = await scopeTest(flags.project === undefined ? 'all' : [project], place);
  const names = new Set(sources.map(({ name }) => name));
  return (head: SessionHead): string | undefined => {
    if (!names.has(head.source)) return 'of other agents (--source auto takes all)';
    if (!inScope(folderOf(head))) return 'of other projects (--all-projects takes them)';
    if (timeOf(head) < since) return `that ended before ${flags.since} (in UTC, unless it names a zone)`;
    return isIgnored(head) ? 'named in a .skilloptignore' : undefined;
  };
}

const countReasons = (reasons: readonly string[]) =>
  [...new Set(reasons)].map(
    (reason) => `${plural(reasons.filter((one) => one === reason).length, 'session')} ${reason}`,
  );

/** Flags with which the next command finds something, where there is something to find. */
async function nextCommands(sleep: OpenSleep, flags: SleepFlags, heads: readonly SessionHead[]): Promise<NextCommands> {
  const { project, place, settings, redact } = sleep;
  const isHere = await scopeTest([project], place);
  const usable = heads.filter(({ leftOut, prompts }) => leftOut === undefined && prompts > 0);
  const here = usable.filter((head) => isHere(folderOf(head)));
  const floor = lookbackFloor({ lookbackHours: settings.lookbackHours, now: Date.now() });
  const isRecent = (here.length > 0 ? here : usable).some((head) => !(timeOf(head) < floor));
  const further = isRecent || flags.since !== undefined ? {} : { lookbackHours: 0 };
  return { flags: { ...flags, ...further }, here: redact(project), usableHere: here.length };
}
