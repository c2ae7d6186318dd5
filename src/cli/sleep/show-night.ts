import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { SleepReport } from '../../sleep/night/sleep-report.ts';
import { readSleepState } from '../../sleep/state/state-file.ts';
import { stateFolderOf } from '../../stores/state-folder.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { commandFor, nightCommand } from './choose-proposals.ts';
import { nightCommands, nightLines } from './night-lines.ts';
import { placeOf } from './open-sleep.ts';

type ShownNight = { readonly name: string; readonly folder: string; readonly report: SleepReport };

/** A night that is over, in the words of its own report, and what can be done about it now. */
export async function nightReport({ name, folder, report }: ShownNight, terminal: Terminal): Promise<string[]> {
  const behind = [
    [`skillopt diff ${name}`, 'what its search changed'],
    [`skillopt show ${name} --all`, 'every edit that it tried'],
  ] as const;
  const commands = [
    ...(await currentCommands(report, terminal)),
    ...(existsSync(join(folder, 'events.jsonl')) ? behind : []),
  ];
  return nightLines(report, { folder, isDryRun: false, commands }, terminal);
}

/** What was staged may have been adopted, rolled back or superseded since. */
async function currentCommands(report: SleepReport, terminal: Terminal): Promise<(readonly [string, string])[]> {
  const { proposals } = await readSleepState(stateFolderOf(placeOf(terminal)));
  const having = (wanted: string) =>
    proposals.filter(
      ({ night, project, status }) => night === report.night && project === report.project && status === wanted,
    );
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
