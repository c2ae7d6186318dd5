import { SECRET } from './secret-value.ts';

const MARK = /-{4,5} ?(BEGIN|END) [A-Z0-9 ]{0,40}(?:PRIVATE|SECRET) KEY[A-Z ]{0,20}-{4,5}/g;

/** What tools put before a line: a diff, a quotation, a comment, a line number. */
const PREFIX = /^[ \t]*(?:\d{1,6}[ \t]*[|:→\t])?[ \t>|+*#"'-]*/;
/** A line of a key, or of what stands above one. */
const BODY =
  /^(?:(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset)\b.*|(?:[A-Za-z0-9+/=]|\\{1,8}[nr])*[ \t"',;\\\r]*)$/;
const WHOLE_BODY = /^[A-Za-z0-9+/=]{16,200}[ \t"',;\\\r]*$/;
/** Where `\n` is written out, a key is one line. */
const REST_OF_LINE = /(?:[A-Za-z0-9+/=]|\\{1,8}[nr])*/y;

/** PuTTY counts its lines. */
const PUTTY = /Private-Lines: \d{1,4}(?:\r?\n[A-Za-z0-9+/=]{1,200}){1,200}|Private-MAC: [0-9a-f]{40,64}/g;
/** A block in base64, as in a kubeconfig. What begins with a certificate or a public key is public. */
const ENCODED = /LS0tLS1CRUdJTi(?!BDRVJUSUZJQ0FUR|BQVUJMSUMg|BUUlVTVEVEIENFUlRJ)[A-Za-z0-9+/]{20,}={0,2}/g;

/** Longer than any key, and than any line of one. */
const [MOST, LONGEST_LINE] = [20_000, 4_000];

/** Private keys of many lines, whole or cut off at either end. */
export function hideKeyBlocks(text: string): string {
  return hideBlocks(text).replace(PUTTY, SECRET).replace(ENCODED, SECRET);
}

function hideBlocks(text: string): string {
  const marks = [...text.matchAll(MARK)];
  const pieces: string[] = [];
  let done = 0;
  marks.forEach(({ index, 0: mark, 1: kind }, at) => {
    if (index < done) return;
    const end = index + mark.length;
    const start = kind === 'BEGIN' ? index : startOf(text, index, done);
    if (start === index && kind === 'END') return;
    pieces.push(text.slice(done, start), SECRET);
    done = kind === 'BEGIN' ? endOf(text, end, marks[at + 1]) : end;
  });
  return done === 0 ? text : pieces.join('') + text.slice(done);
}

/** Up to the end of the block, or as far as lines look like a key. */
function endOf(text: string, from: number, next: RegExpExecArray | undefined): number {
  if (next?.[1] === 'END' && next.index - from < MOST) return next.index + next[0].length;
  REST_OF_LINE.lastIndex = from;
  let end = from + REST_OF_LINE.exec(text)![0].length;
  while (text[end] === '\n' || text.startsWith('\r\n', end)) {
    const start = text.indexOf('\n', end) + 1;
    const line = lineAt(text, start);
    if (line === undefined || !BODY.test(line.replace(PREFIX, ''))) break;
    end = start + line.length;
  }
  return end;
}

/** Back over the lines of a key whose beginning was cut off. */
function startOf(text: string, end: number, done: number): number {
  let start = text.lastIndexOf('\n', end - 1) + 1;
  if (start <= done || !/^[^A-Za-z0-9]*$/.test(text.slice(start, end))) return end;
  for (;;) {
    const before = Math.max(done, text.lastIndexOf('\n', start - 2) + 1);
    const line = text.slice(before, start - 1);
    if (before >= start - 1 || line.length > LONGEST_LINE || !WHOLE_BODY.test(line.replace(PREFIX, ''))) break;
    start = before;
  }
  return start;
}

function lineAt(text: string, start: number): string | undefined {
  const piece = text.slice(start, start + LONGEST_LINE);
  const end = piece.indexOf('\n');
  if (end === -1) return piece.length < LONGEST_LINE ? piece : undefined;
  return piece.slice(0, end);
}
