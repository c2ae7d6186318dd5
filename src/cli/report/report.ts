import type { RunState } from '../../core/run/run-state.ts';
import { stepTotal } from '../../core/run/step-total.ts';
import { duration, plural } from '../terminal/figures.ts';
import { editLines } from './report-edits.ts';
import { finalLines } from './report-final.ts';
import { blameLines, invalidLines, thrownLines } from './report-invalid.ts';
import { leakLines, memorisedLines } from './report-leaks.ts';
import type { ReportOptions } from './report-options.ts';
import { unreadableLines } from './report-replies.ts';
import { bucketLines, scoreLines } from './report-scores.ts';
import { usageLines } from './report-usage.ts';

/** What a run came to, as lines for people: scores, task types, edits, costs, and what to do next. */
export function reportLines(state: RunState, options: ReportOptions): string[] {
  const sections = [
    [headline(state, options)],
    scoreLines(state, options),
    options.night === undefined ? finalLines(state, options) : [`what came of it: skillopt show ${options.night}`],
    bucketLines(state, options),
    editLines(state, 'accepted', options),
    editLines(state, 'removed', options),
    editLines(state, 'rejected', options),
    editLines(state, 'skipped', options),
    [...invalidLines(state, options), ...blameLines(state, options), ...thrownLines(state, options)],
    unreadableLines(state, options),
    [...leakLines(state, options), ...memorisedLines(state, options)],
    usageLines(state, options),
    nextLines(options),
  ];
  return sections.filter((lines) => lines.length > 0).flatMap((lines, index) => (index === 0 ? lines : ['', ...lines]));
}

function headline(state: RunState, { run, colors }: ReportOptions): string {
  const { isDone, stepsDone, wallTimeMs } = state;
  const progress = isDone ? `done, ${plural(stepsDone, 'step')}` : `step ${stepsDone} of ${stepTotal(state)}`;
  return `${colors.bold(run)}  ${progress} in ${duration(wallTimeMs)}`;
}

function nextLines({ run, bestSkillPath, colors }: ReportOptions): string[] {
  return [
    `${colors.dim('best skill')}  ${bestSkillPath}`,
    `${colors.dim('next      ')}  npx skillopt diff ${run}`,
    `${colors.dim('          ')}  npx skillopt show ${run} --all`,
  ];
}
