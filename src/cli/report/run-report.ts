import { dirname, join } from 'node:path';
import { summarize } from '../../core/run/summary.ts';
import { listEdits } from '../../runs/edit-list.ts';
import type { LoadedRun } from '../../runs/load-run.ts';
import { shownPath } from '../../stores/shown-path.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { reportLines } from './report.ts';

type ReportSettings = {
  readonly warnings?: readonly string[];
  readonly isComplete?: boolean;
  /** The night that the run belongs to, when that is over. */
  readonly night?: string | undefined;
  /** What it is called by; else its name below `runs`, or its path. */
  readonly called?: string;
};

/** Answers with what a run came to: the end of `train`, and all of `show`. */
export function reportRun(
  run: LoadedRun,
  terminal: Terminal,
  { warnings = [], isComplete = false, night, called }: ReportSettings = {},
): void {
  const cwd = terminal.io.cwd();
  const answer = runAnswer(run, terminal, warnings);
  const { width, colors } = terminal;
  const lines = reportLines(run.state, {
    run: called ?? (dirname(run.path) === join(cwd, 'runs') ? run.name : answer.outRoot),
    night,
    bestSkillPath: answer.bestSkillPath,
    width,
    colors,
    isComplete,
  });
  terminal.answer(answer, lines);
}

/** What a run came to, for machines. */
export function runAnswer({ path, name, state }: LoadedRun, { io }: Terminal, warnings: readonly string[] = []) {
  const bestSkillPath = shownPath(join(path, 'best_skill.md'), io.cwd());
  const summary = summarize(state, { outRoot: shownPath(path, io.cwd()), warnings });
  return { name, bestSkillPath, ...summary, edits: listEdits(state) };
}
