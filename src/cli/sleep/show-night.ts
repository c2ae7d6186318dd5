import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type FinishedNight, findRun, runAnswer } from '../../app/index.ts';
import { strip } from '../../core/text/index.ts';
import { type DocumentReport, nightLines, type SleepReport } from '../../report/index.ts';
import { type Proposal, readSleepState } from '../../sleep/index.ts';
import { shownPath } from '../../stores/index.ts';
import { placeOfNights, runPlace } from '../night-runs.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { commandFor, nightCommand, nightCommands } from './proposals.ts';

/** A night that is over, in the words of its report, and what can be done about it now. Machines get its first run too. */
export async function showNight(
  { name, folder, report }: FinishedNight,
  root: string,
  terminal: Terminal,
): Promise<void> {
  const { cwd, stateFolder } = placeOfNights(terminal);
  const isTrained = existsSync(join(folder, 'events.jsonl'));
  const run = isTrained ? runAnswer(await findRun(...runPlace(name, root, terminal)), { cwd }) : {};
  const { proposals } = await readSleepState(stateFolder);
  const mine = proposals.filter(({ night, project }) => night === report.night && project === report.project);
  const behind = [
    [`skillopt diff ${name}`, 'what its search changed'],
    [`skillopt show ${name} --all`, 'every edit that it tried'],
  ] as const;
  const commands = [...currentCommands(report, mine, terminal), ...(isTrained ? behind : [])];
  const options = { folder: shownPath(folder), isDryRun: false, commands };
  terminal.answer({ ...run, report }, nightLines(asReviewed(report, mine), options, terminal));
}

/** Shows what a person kept of a proposal instead of what the night proposed. */
function asReviewed(report: SleepReport, proposals: readonly Proposal[]): SleepReport {
  const keptOf = ({ path, after, isStaged }: DocumentReport) =>
    proposals.find(({ document, block }) => isStaged && document.path === path && strip(block) !== strip(after));
  const reviewed = report.documents.filter(keptOf).map(({ name }) => name);
  if (reviewed.length === 0) return report;
  const note = `Reviewed since the night: ${reviewed.join(', ')}. The change and its gain are what was kept; the tasks stand as the night has measured them.`;
  const documents = report.documents.map((one) => {
    const kept = keptOf(one);
    return kept ? { ...one, after: kept.block, gain: kept.gain, test: null } : one;
  });
  return { ...report, documents, notes: [...report.notes, note] };
}

/** What was staged may have been adopted, rolled back or superseded since. */
function currentCommands(report: SleepReport, proposals: readonly Proposal[], terminal: Terminal) {
  const having = (wanted: Proposal['status']) => proposals.filter(({ status }) => status === wanted);
  const [adopted, again] = [having('adopted'), having('rolled_back')];
  return [
    ...nightCommands(report, having('pending'), terminal),
    ...(adopted[0] ? [[nightCommand(adopted[0], terminal, 'rollback'), 'undo what was adopted'] as const] : []),
    ...again.map((one) => [commandFor(one, terminal), 'adopt again what was rolled back'] as const),
  ];
}
