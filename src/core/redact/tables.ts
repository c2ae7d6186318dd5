import { credentialOf, PASSWORD_WORDS } from './credential-names.ts';
import { isSecretValue, SECRET } from './secret-value.ts';

/** What divides the cells of a row. */
const DIVIDERS = ['|', '\t', ',', ';'] as const;
const [LONGEST_HEAD, MOST_CELLS] = [400, 30];

/** Also written out, as in JSON. */
const LINE_ENDS = /(\r?\n|(?:\\{1,8}r)?\\{1,8}n)/;
/** Only a line with one of these may be a head; there are many lines. */
const TELLING = new RegExp(`${PASSWORD_WORDS.join('|')}|pass|pwd?|mdp|pin|token|secret|key|auth|cred`);

/** The columns of a table whose heads speak of a credential, and what divides them. */
type Table = { readonly divider: string; readonly count: number; readonly columns: ReadonlySet<number> };

/** Cells of tables, of Markdown or divided by commas, below a head such as `password`. */
export function hideTableCells(text: string): string {
  let table: Table | undefined;
  const lines = text.split(LINE_ENDS); // every other one is what ends a line
  for (let at = 0; at < lines.length; at += 2) {
    const shown = table && hideRow(lines[at]!, table);
    if (shown === undefined) table = tableOf(lines[at]!);
    else lines[at] = shown;
  }
  return lines.join('');
}

function tableOf(line: string): Table | undefined {
  if (line.length > LONGEST_HEAD || !/[|\t,;]/.test(line) || !TELLING.test(line.toLowerCase())) return undefined;
  for (const divider of DIVIDERS) {
    const cells = line.split(divider).map((cell) => cell.trim().replace(/^["'*`]+|["'*`]+$/g, ''));
    if (cells.length < 2 || cells.length > MOST_CELLS || !isHeadRow(cells, divider)) continue;
    const columns = new Set([...cells.keys()].filter((at) => isCredential(cells[at]!)));
    if (columns.size > 0) return { divider, count: cells.length, columns };
  }
  return undefined;
}

/** Before the first and behind the last `|` may stand whatever the table stands in. */
const isHeadRow = (cells: readonly string[], divider: string) =>
  (divider === '|' && cells.length > 3 ? cells.slice(1, -1) : cells).every(isHead) && cells.filter(Boolean).length > 1;
const isHead = (cell: string) => /^(?:[\p{L}_][\p{L}\p{N}_ .-]{0,40})?$/u.test(cell);
/** One or two words: «condition to pass» is no password. */
const isCredential = (cell: string) =>
  /^\S+(?: \S+)?$/.test(cell) && ['password', 'key'].includes(credentialOf(cell.replace(/ /g, '_')) ?? '');

/** `undefined`: the line is no row of the table, which ended above it. Cells are cut out only where they may be hidden: there are many. */
function hideRow(line: string, { divider, count, columns }: Table): string | undefined {
  let [shown, kept] = ['', 0];
  for (let at = 0, start = 0; at < count; at++) {
    const next = line.indexOf(divider, start);
    if ((next === -1) !== (at === count - 1)) return undefined;
    const end = next === -1 ? line.length : next;
    if (columns.has(at)) {
      shown += line.slice(kept, start) + hideCell(line.slice(start, end));
      kept = end;
    }
    start = end + 1;
  }
  return shown + line.slice(kept);
}

function hideCell(cell: string): string {
  if (cell === SECRET) return cell; // hidden by an earlier pass
  const value = cell.trim().replace(/^["'`]|["'`]$/g, '');
  const isRule = /^:?-+:?$/.test(value);
  if (
    isRule ||
    value.length < 4 ||
    /\s/.test(value) ||
    !isSecretValue(value, 'password', { isQuoted: true, isShell: false })
  )
    return cell;
  return cell.replace(value, () => SECRET);
}
