import { type RunState, verdictOf } from '../../core/run/index.ts';
import { skillChange } from '../../train/index.ts';
import { costLines } from './report-cost.ts';
import { editLines } from './report-edits.ts';
import { blameLines, invalidLines, thrownLines } from './report-invalid.ts';
import { kindLines, loadingLines } from './report-kinds.ts';
import { leakLines, memorisedLines } from './report-leaks.ts';
import { asWritten, type ReportOptions } from './report-options.ts';
import { unreadableLines } from './report-replies.ts';
import { usageLines } from './report-usage.ts';
import { changeLines, flipLines, nextLines, verdictLines } from './report-verdict.ts';
import { testLookLines } from './test-look-lines.ts';

/** Lines of the smallest usual terminal, less the one that the shell asks on. */
const SCREEN = 23;
const LEAST_CHANGE = 4;

/**
 * What a run came to, as lines for people: the verdict, what changed, which tasks turned, what it cost, what to do next.
 * That much is one screen; all the rest is for those who ask for it.
 */
export function reportLines(state: RunState, options: ReportOptions): string[] {
  const verdict = verdictOf(state, options);
  const change = skillChange(state.initialSkill, state.best.skill, state.config);
  const told = { state, verdict, change, options };
  const [head, next] = [verdictLines(told), nextLines(told)];
  const behind = [
    loadingLines(state, options),
    flipLines(told),
    options.isComplete ? [] : noteLines(state, options),
    costLines(told),
  ];
  const taken = [head, ...behind, next]
    .filter((lines) => lines.length > 0)
    .reduce((sum, lines) => sum + lines.length + 1, 0);
  const room = options.isComplete ? Number.MAX_SAFE_INTEGER : Math.max(LEAST_CHANGE, SCREEN - taken);
  const rest = options.isComplete ? everything(state, options) : [];
  return spaced([head, changeLines(told, room), ...behind, ...rest, next]);
}

const spaced = (sections: readonly (readonly string[])[]) =>
  sections.filter((lines) => lines.length > 0).flatMap((lines, index) => (index === 0 ? lines : ['', ...lines]));

/** What somebody should know who decides by this report. */
function noteLines(state: RunState, options: ReportOptions): string[] {
  const { called = asWritten } = options;
  const looks = state.testLooks ?? 0;
  const notes = [
    ...invalidLines(state, options),
    ...blameLines(state, options),
    ...thrownLines(state, options),
    ...unreadableLines(state, options),
    ...leakLines(state, options),
    ...memorisedLines(state, options),
    ...(looks > 1 ? [options.colors.dim(`look ${looks} at these test tasks: each makes them a little less new`)] : []),
  ];
  const all = `${called('npx skillopt show')} ${options.run} --all`;
  const more = `… and ${notes.length - MOST_NOTES + 1} more notes: ${all}`;
  return notes.length > MOST_NOTES ? [...notes.slice(0, MOST_NOTES - 1), options.colors.dim(more)] : notes;
}

const MOST_NOTES = 4;

function everything(state: RunState, options: ReportOptions): string[][] {
  return [
    kindLines(state, options),
    ...(['accepted', 'removed', 'rejected', 'invalid', 'skipped'] as const).map((fate) =>
      editLines(state, fate, options),
    ),
    [...invalidLines(state, options), ...blameLines(state, options), ...thrownLines(state, options)],
    unreadableLines(state, options),
    [...leakLines(state, options), ...memorisedLines(state, options)],
    testLookLines(state.testLooks, options.colors),
    usageLines(state, options),
  ];
}
