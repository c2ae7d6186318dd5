import type { RunState } from '../../core/run/run-state.ts';
import { oneLine, printable } from '../../core/text/printable.ts';
import { type ListedEdit, listEdits } from '../../runs/edit-list.ts';
import { plural, points } from '../terminal/figures.ts';
import { clip } from '../terminal/text-width.ts';
import type { ReportOptions } from './report-options.ts';

const SHOWN = { accepted: 12, removed: 6, rejected: 6, skipped: 0 } as const;
const REMARKS = {
  accepted: '',
  removed: ': the skill is better without',
  rejected: '',
  skipped: ': they did not fit the text',
};
const BULLET = /^[-*+] (?=\S)/;
const SIGNS = { append: '+', insert_after: '+', replace: '~', delete: '-', suggest: '~', rewrite: '~' } as const;

/** The edits with one fate, a line each; with `isComplete` all of them, in full. */
export function editLines(state: RunState, fate: ListedEdit['fate'], options: ReportOptions): string[] {
  const edits = listEdits(state).filter((edit) => edit.fate === fate);
  const shown = options.isComplete ? edits : edits.slice(0, SHOWN[fate]);
  const rest = edits.length - shown.length;
  if (edits.length === 0 || (fate === 'skipped' && !options.isComplete)) return [];
  const more = rest > 0 ? [options.colors.dim(`  … and ${rest} more: npx skillopt show ${options.run} --all`)] : [];
  const isShort = fate === 'accepted' && !options.isComplete;
  const legend = isShort && shown.some((edit) => worthOf(edit) !== '') ? '  [points by itself]' : '';
  const title = clip(`${fate} edits (${edits.length})${REMARKS[fate]}${legend}`, options.width);
  return [options.colors.bold(title), ...shown.flatMap((edit) => describeEdit(edit, options)), ...more];
}

function describeEdit(edit: ListedEdit, { width, colors, isComplete }: ReportOptions): string[] {
  const head = `  ${`step ${edit.step}`.padEnd(8)} ${SIGNS[edit.op]} `;
  const lines = isComplete ? fullText(edit) : [`${worthOf(edit)}${oneLine(shortText(edit)).replace(BULLET, '')}`];
  const paint = edit.fate === 'accepted' ? colors.green : colors.dim;
  return lines.map((line, index) =>
    paint(clip(`${index === 0 ? head : ' '.repeat(head.length)}${line}`, isComplete ? Number.MAX_SAFE_INTEGER : width)),
  );
}

function shortText({ op, target, content }: ListedEdit): string {
  if (op === 'delete') return target;
  return op === 'replace' ? `${target} → ${content}` : content;
}

/** Points that an accepted edit is worth by itself, where that was measured. */
function worthOf({ effect }: ListedEdit): string {
  return effect && effect.gain !== null ? `[${points(effect.gain)}] ` : '';
}

const HOW = {
  own_step: 'its step had no other',
  salvage: 'tried alone',
  removal: 'by the skill without it',
  prune: 'by the best skill without it',
  not_measured: '',
} as const;

function worthLines({ effect }: ListedEdit): string[] {
  if (!effect) return [];
  if (effect.gain === null) return ['(by itself: not measured)'];
  const how = `${plural(effect.tasks, 'task')}, ${HOW[effect.measuredBy]}`;
  return [`(by itself: ${points(effect.gain)} points on ${how})`];
}

function fullText(edit: ListedEdit): string[] {
  const { op, target, content, status } = edit;
  const where = target === '' ? [] : [`${op === 'insert_after' ? 'after' : 'from'}: ${oneLine(target)}`];
  const text = op === 'delete' ? [] : printable(content).trim().split('\n');
  const skipped = status.startsWith('applied') ? [] : [`(${status.replaceAll('_', ' ')})`];
  return [...where, ...text, ...skipped, ...worthLines(edit)];
}
