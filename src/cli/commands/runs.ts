import { listNightRuns, listRuns, type RunRow } from '../../app/index.ts';
import { percent } from '../../core/text/index.ts';
import { resolvePath } from '../../project/index.ts';
import { ago, type Column, table } from '../../report/index.ts';
import { jsonOption } from '../flags/flags.ts';
import { placeOfNights } from '../night-runs.ts';
import { type DefineCommand, examples } from '../run-command.ts';
import type { Terminal } from '../terminal/terminal.ts';

export const define: DefineCommand = (command, terminal) => {
  command
    .option('--root <dir>', 'folder of runs (default: runs, and the nights of this project)')
    .addOption(jsonOption())
    .addHelpText('after', EXAMPLES)
    .action(async (flags: { root?: string }) => {
      const root = flags.root ?? 'runs';
      const nights = flags.root === undefined ? await listNightRuns(placeOfNights(terminal)) : [];
      const runs = await listRuns(resolvePath(terminal.io.cwd(), root), nights);
      const none = [`no runs in ${root}; start one with: ${terminal.called('skillopt train, or skillopt demo')}`];
      terminal.answer({ root, runs }, runs.length > 0 ? runTable(runs, terminal) : none);
    });
};

const EXAMPLES = examples([
  ['skillopt runs', 'every run below runs/ and every night of this project, newest first'],
  ['skillopt runs --root ~/experiments --json', 'another folder, for machines'],
]);

function runTable(runs: readonly RunRow[], { lineWidth: width, colors }: Terminal): string[] {
  const paint = (text: string, row: number) =>
    runs[row]!.problem !== undefined || runs[row]!.verdict === 'broken' ? colors.red(text) : text;
  const columns: Column[] = [
    { title: 'run', isElastic: true },
    { title: 'state', isElastic: true, paint },
    { title: 'validation', align: 'right' },
    { title: 'test', align: 'right', isOptional: true },
    { title: 'accepted', align: 'right', isOptional: true },
    { title: 'when', align: 'right', isOptional: true },
  ];
  const now = new Date();
  const rows = runs.map((run) => cells(run, now));
  return table(columns, rows, { width, paintTitle: colors.dim });
}

function cells(run: RunRow, now: Date): string[] {
  const { name, state, baselineScore, bestScore, testScore, accepted, rejected, modifiedAt } = run;
  const change = baselineScore === null ? '–' : `${percent(baselineScore).replace(' %', '')} → ${percent(bestScore)}`;
  const kept = accepted + rejected > 0 ? `${accepted} of ${accepted + rejected}` : '–';
  return [name, state, change, percent(testScore), kept, ago(modifiedAt, now)];
}
