import { dirname, join } from 'node:path';
import { summarize } from '../../core/summary.ts';
import { reportLines } from '../report/report.ts';
import { shownPath } from '../terminal/shown-path.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { listEdits } from './edit-list.ts';
import type { LoadedRun } from './load-run.ts';

type ReportSettings = { readonly warnings?: readonly string[]; readonly isComplete?: boolean };

/** Answers with what a run came to: the end of `train`, and all of `show`. */
export function reportRun(
  run: LoadedRun,
  terminal: Terminal,
  { warnings = [], isComplete = false }: ReportSettings = {},
): void {
  const cwd = terminal.io.cwd();
  const outRoot = shownPath(run.path, cwd);
  const bestSkillPath = shownPath(join(run.path, 'best_skill.md'), cwd);
  const summary = summarize(run.state, { outRoot, warnings });
  const { width, colors } = terminal;
  const called = dirname(run.path) === join(cwd, 'runs') ? run.name : outRoot;
  const lines = reportLines(run.state, { run: called, bestSkillPath, width, colors, isComplete });
  terminal.answer({ name: run.name, bestSkillPath, ...summary, edits: listEdits(run.state) }, lines);
}
