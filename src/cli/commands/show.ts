import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  type FinishedNight,
  findRun,
  finishedNight,
  isNight,
  loadAttempts,
  onlyRun,
  runAnswer,
} from '../../app/index.ts';
import { SkillError } from '../../core/contracts/index.ts';
import { strip } from '../../core/text/index.ts';
import { attemptLines, type DocumentReport, nightLines, type SleepReport } from '../../report/index.ts';
import { type Proposal, readSleepState } from '../../sleep/index.ts';
import { shownPath } from '../../stores/index.ts';
import { jsonOption, readOrdinal, rootOption } from '../flags/flags.ts';
import { placeOfNights, runPlace } from '../night-runs.ts';
import { reportRun } from '../report-run.ts';
import { type DefineCommand, examples } from '../run-command.ts';
import { commandFor, nightCommand, nightCommands } from '../sleep/proposals.ts';
import type { Terminal } from '../terminal/terminal.ts';

type Flags = { readonly root: string; readonly all?: boolean; readonly task?: string; readonly step?: number };

export const define: DefineCommand = (command, terminal) => {
  command
    .argument('[run]', 'name of a run or a night, or its path (default: the only run)')
    .addOption(rootOption())
    .option('--all', 'show everything, every edit in full')
    .option('--task <id>', 'the attempts at one task: what was done, and how it was judged')
    .option('--step <n>', 'with --task: the attempts of one step', readOrdinal('the number of a step, from 1'))
    .addOption(jsonOption())
    .addHelpText('after', EXAMPLES)
    .action(async (given: string | undefined, flags: Flags) => {
      const { root, all = false, task, step } = flags;
      if (step !== undefined && task === undefined) throw stepWithoutTask(step);
      const name = given ?? (await onlyRun({ cwd: terminal.io.cwd(), root }));
      if (task !== undefined) return showTask(name, flags, terminal);
      const night = await finishedNight(name, placeOfNights(terminal));
      if (night?.name === name && !all) return showNight(night, root, terminal);
      const run = await findRun(...runPlace(name, root, terminal));
      const called = isNight(name) ? { called: name } : {};
      await reportRun(run, terminal, { isComplete: all, night: night?.name, ...called });
    });
};

async function showTask(name: string, { root, task = '', step, all = false }: Flags, terminal: Terminal) {
  const run = await findRun(...runPlace(name, root, terminal));
  const attempts = await loadAttempts(run, { task, step });
  terminal.answer({ name: run.name, task, attempts }, attemptLines(task, attempts, { ...terminal, isComplete: all }));
}

function stepWithoutTask(step: number): SkillError {
  const hint = `For example: skillopt show RUN --task ID --step ${step}. What a step changed: skillopt diff RUN ${step - 1} ${step}`;
  return new SkillError('USAGE', '--step needs --task: it shows the attempts of one step at one task', { hint });
}

const EXAMPLES = examples([
  ['skillopt show demo', 'what the run runs/demo came to'],
  ['skillopt show night-3', 'the third night of this project, as skillopt runs names it'],
  ['skillopt show demo --all', 'with every edit in full'],
  ['skillopt show demo --task q7', 'the attempts at the task q7, the last one in full'],
  ['skillopt show /tmp/elsewhere --json', 'a run by path, for machines'],
]);

/** A night that is over, in the words of its report, and what can be done about it now. Machines get its first run too. */
async function showNight({ name, folder, report }: FinishedNight, root: string, terminal: Terminal): Promise<void> {
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
function currentCommands(
  report: SleepReport,
  proposals: readonly Proposal[],
  terminal: Terminal,
): (readonly [string, string])[] {
  const having = (wanted: Proposal['status']) => proposals.filter(({ status }) => status === wanted);
  const [adopted, again] = [having('adopted'), having('rolled_back')];
  return [
    ...nightCommands(
      report,
      having('pending').map(({ document }) => document),
      terminal,
    ),
    ...(adopted[0] ? [[nightCommand(adopted[0], terminal, 'rollback'), 'undo what was adopted'] as const] : []),
    ...again.map((one) => [commandFor(one, terminal), 'adopt again what was rolled back'] as const),
  ];
}
