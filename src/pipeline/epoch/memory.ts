import { dataSection, HEADINGS, STEP_LINES } from '../../core/contracts/index.ts';
import { groupFaults, type StepBufferEntry, type TriedEdit } from '../../core/run/index.ts';
import { head } from '../../core/text/index.ts';

/** What prompts repeat: this epoch's steps, and the optimizer's notes from earlier epochs. */
export type Memory = { readonly stepBuffer: readonly StepBufferEntry[]; readonly metaSkill: string };

export const noMemory: Memory = { stepBuffer: [], metaSkill: '' };

export function stepSections({ stepBuffer }: Memory): string[] {
  const steps = [...stepBuffer.map(renderStep), ...renderFaults(stepBuffer)];
  return steps.length === 0 ? [] : [dataSection(HEADINGS.steps, 'steps', steps.join('\n\n'))];
}

export function metaSections({ metaSkill }: Memory): string[] {
  return metaSkill === '' ? [] : [dataSection(HEADINGS.metaSkill, 'notes', metaSkill)];
}

function renderStep(entry: StepBufferEntry): string {
  const { step, action, nTotal, nFail, failurePatterns, rejectedEdits = [], invalidEdits = [] } = entry;
  const outcome = entry.undecided ? 'UNDECIDED' : action.toUpperCase();
  return [
    STEP_LINES.start(step, `${outcome}, ${nFail} of ${nTotal} tasks failed`),
    ...failurePatterns.map(renderPattern),
    ...(entry.invalid === undefined ? [] : [`not measured, since it would be no valid skill: ${entry.invalid}`]),
    ...(invalidEdits.length > 0 ? ['made by:'] : []),
    ...invalidEdits.map((edit, index) => STEP_LINES.rejectedEdit(index + 1, renderEdit(shortened(edit)))),
    ...(rejectedEdits.length > 0 ? [`${whatCame(entry)}:`] : []),
    ...rejectedEdits.map((edit, index) => STEP_LINES.rejectedEdit(index + 1, renderEdit(edit))),
  ].join('\n');
}

function renderFaults(buffer: readonly StepBufferEntry[]): string[] {
  const faults = buffer.flatMap(({ step, invalid: reason }) => (reason === undefined ? [] : [{ step, reason }]));
  return groupFaults(faults)
    .filter(({ steps }) => steps.length > 1)
    .map(
      ({ steps, reason }) => `steps ${steps.join(', ')} had the same fault: ${reason}. With it nothing is measured.`,
    );
}

/** Longer contents would drown the rest. */
const MOST_SHOWN = 400;

function shortened(edit: TriedEdit): TriedEdit {
  const { content } = edit;
  if (content.length <= MOST_SHOWN) return edit;
  return { ...edit, content: `${head(content, MOST_SHOWN)}… (${content.length} characters)` };
}

/** Edits that lost after a part of the tasks are not shown to be wrong, and may come back. */
function whatCame(entry: StepBufferEntry): string {
  const { undecided } = entry;
  if (!undecided) return `rejected, ${change(entry)}`;
  return `undecided after ${undecided.met} of ${undecided.total} tasks (may be proposed again, better put or alone)`;
}

const change = ({ scoreBefore = 0, scoreAfter = 0 }: StepBufferEntry) =>
  `score ${scoreBefore.toFixed(4)} before, ${scoreAfter.toFixed(4)} with these`;

function renderPattern({ type, count, taskIds, description = '' }: StepBufferEntry['failurePatterns'][number]): string {
  return `${STEP_LINES.failurePattern(type, count)}${description && `: ${description}`} (${taskIds.join(', ')})`;
}

function renderEdit({ op, target, content, file }: TriedEdit): string {
  const text = op === 'rewrite' ? '' : content; // a whole document would drown the rest
  return JSON.stringify({
    op,
    ...(file ? { file } : {}),
    ...(target === '' ? {} : { target }),
    ...(text === '' ? {} : { content: text }),
  });
}
