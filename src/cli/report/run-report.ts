import { dirname, join, resolve } from 'node:path';
import { type LoadedRun, loadQueries, standingOf, triggerFigures } from '../../app/index.ts';
import { listEdits, loadingOf, summarize, type VerdictOptions, verdictOf } from '../../core/run/index.ts';
import { reportLines } from '../../report/index.ts';
import { shownPath } from '../../stores/index.ts';
import { projectFileOf } from '../named-project.ts';
import type { Terminal } from '../terminal/terminal.ts';

type ReportSettings = {
  readonly warnings?: readonly string[];
  readonly isComplete?: boolean;
  /** The night that the run belongs to, when that is over. */
  readonly night?: string | undefined;
  /** What it is called by; else its name below `runs`, or its path. */
  readonly called?: string;
};

/** Answers with what a run came to: the end of `train`, and all of `show`. */
export async function reportRun(
  run: LoadedRun,
  terminal: Terminal,
  { warnings = [], isComplete = false, night, called }: ReportSettings = {},
): Promise<void> {
  const { io, colors } = terminal;
  const standing = await standingOf(run);
  const source = run.state.skillSource?.path;
  const answer = runAnswer(run, terminal, { warnings, standing });
  const lines = reportLines(run.state, {
    ...standing,
    run: called ?? (dirname(run.path) === join(io.cwd(), 'runs') ? run.name : answer.outRoot),
    path: answer.outRoot,
    night,
    trigger: triggerFigures(run.state),
    names: await loadQueries(run),
    bestSkillPath: answer.bestSkillPath,
    projectFile: projectFileOf(run, io.cwd()),
    skillFile: source === undefined ? undefined : shownPath(resolve(run.path, source), io.cwd()),
    width: terminal.lineWidth,
    colors,
    called: terminal.called,
    isComplete,
  });
  terminal.answer(answer, lines);
}

type Answering = { readonly warnings?: readonly string[]; readonly standing?: VerdictOptions };

/** What a run came to, for machines. */
export function runAnswer(
  { path, name, state }: LoadedRun,
  { io }: Terminal,
  { warnings = [], standing = {} }: Answering = {},
) {
  const bestSkillPath = shownPath(join(path, 'best_skill.md'), io.cwd());
  const summary = summarize(state, { outRoot: shownPath(path, io.cwd()), warnings });
  const [loading, trigger] = [loadingOf(state.usage.rollout ?? {}), triggerFigures(state)];
  const agents = { ...(loading && { loading }), ...(trigger && { trigger }) };
  return { name, verdict: verdictOf(state, standing), bestSkillPath, ...summary, ...agents, edits: listEdits(state) };
}
