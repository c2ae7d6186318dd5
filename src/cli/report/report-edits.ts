import { type ListedEdit, listEdits } from '../../app/index.ts';
import type { RunState } from '../../core/run/index.ts';
import { oneLine, plural, points, printable } from '../../core/text/index.ts';
import type { ReportOptions } from './report-options.ts';

const REMARKS = {
  accepted: '',
  removed: ': the skill is better without',
  rejected: '',
  invalid: ': not scored',
  skipped: ': they did not fit the text',
};
const SIGNS = {
  append: '+',
  insert_after: '+',
  replace: '~',
  delete: '-',
  create_file: '+',
  delete_file: '-',
  suggest: '~',
  rewrite: '~',
} as const;

/** The edits with one fate, in full. */
export function editLines(state: RunState, fate: ListedEdit['fate'], { colors }: ReportOptions): string[] {
  const edits = listEdits(state).filter((edit) => edit.fate === fate);
  if (edits.length === 0) return [];
  const paint = fate === 'accepted' ? colors.green : colors.dim;
  const head = `${fate} edits (${edits.length})${REMARKS[fate]}${unmeasured(edits)}`;
  return [colors.bold(head), ...edits.flatMap(describeEdit).map(paint)];
}

/** Said once: below every edit it would be the line that is read most. */
function unmeasured(edits: readonly ListedEdit[]): string {
  const effects = edits.flatMap(({ effect }) => effect ?? []);
  return effects.length > 0 && effects.every(({ gain }) => gain === null) ? ', none measured by itself' : '';
}

function describeEdit(edit: ListedEdit): string[] {
  const head = `  ${`step ${edit.step}`.padEnd(8)} ${SIGNS[edit.op]} `;
  return fullText(edit).map((line, index) => `${index === 0 ? head : ' '.repeat(head.length)}${line}`);
}

const HOW = {
  own_step: 'its step had no other',
  salvage: 'tried alone',
  removal: 'by the skill without it',
  prune: 'by the best skill without it',
  not_measured: '',
} as const;

/** What an accepted edit is worth by itself, where that was measured. */
function worthLines({ effect }: ListedEdit): string[] {
  if (!effect || effect.gain === null) return [];
  const how = `${plural(effect.tasks, 'task')}, ${HOW[effect.measuredBy]}`;
  return [`(by itself: ${points(effect.gain)} points on ${how})`];
}

function fullText(edit: ListedEdit): string[] {
  const { op, target, content, file, status } = edit;
  const place = file === undefined ? [] : [`file: ${oneLine(file)}`];
  const where = target === '' ? [] : [`${op === 'insert_after' ? 'after' : 'from'}: ${oneLine(target)}`];
  const text = op === 'delete' ? [] : printable(content).trim().split('\n');
  const skipped = status.startsWith('applied') ? [] : [`(${status.replaceAll('_', ' ')})`];
  return [...place, ...where, ...text, ...skipped, ...worthLines(edit)];
}
