import type { RunState } from '../../core/run-state.ts';
import { type ListedEdit, listEdits } from '../runs/edit-list.ts';
import { oneLine, printable } from '../terminal/printable.ts';
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
  const title = `${fate} edits (${edits.length})${REMARKS[fate]}`;
  return [options.colors.bold(title), ...shown.flatMap((edit) => describeEdit(edit, options)), ...more];
}

function describeEdit(edit: ListedEdit, { width, colors, isComplete }: ReportOptions): string[] {
  const head = `  ${`step ${edit.step}`.padEnd(8)} ${SIGNS[edit.op]} `;
  const lines = isComplete ? fullText(edit) : [oneLine(shortText(edit)).replace(BULLET, '')];
  const paint = edit.fate === 'accepted' ? colors.green : colors.dim;
  return lines.map((line, index) =>
    paint(clip(`${index === 0 ? head : ' '.repeat(head.length)}${line}`, isComplete ? Number.MAX_SAFE_INTEGER : width)),
  );
}

function shortText({ op, target, content }: ListedEdit): string {
  if (op === 'delete') return target;
  return op === 'replace' ? `${target} → ${content}` : content;
}

function fullText({ op, target, content, status }: ListedEdit): string[] {
  const where = target === '' ? [] : [`${op === 'insert_after' ? 'after' : 'from'}: ${oneLine(target)}`];
  const text = op === 'delete' ? [] : printable(content).trim().split('\n');
  return [...where, ...text, ...(status.startsWith('applied') ? [] : [`(${status.replaceAll('_', ' ')})`])];
}
