import { textWidth } from '../../report/index.ts';
import type { SafeIo } from '../terminal/terminal.ts';

const HIDE_CURSOR = '\x1b[?25l';
const SHOW_CURSOR = '\x1b[?25h';
const ERASE_BELOW = '\x1b[J';

/** Lines at the foot of a terminal that are redrawn in place. Other text on stderr stays above them. */
export type LiveBlock = {
  draw(lines: readonly string[]): void;
  /** Removes the block and gives the cursor back. Calling it twice is harmless. */
  close(): void;
};

export function openLiveBlock(io: SafeIo): LiveBlock {
  const { stderr } = io;
  let shown: readonly string[] = [];
  let isClosed = false;
  const write = (codes: string, text = '') => void stderr.writeAfter(codes, text);
  const show = (lines: readonly string[]) => {
    shown = lines;
    return lines.map((line) => `${line}\n`).join('');
  };
  /** A window made narrower has wrapped the old lines, so their rows are counted again. */
  const erase = () => {
    const columns = stderr.columns ?? 80;
    const rows = shown.reduce((sum, line) => sum + Math.max(1, Math.ceil(textWidth(line) / columns)), 0);
    return rows === 0 ? '' : `\x1b[${rows}F${ERASE_BELOW}`;
  };
  const close = () => {
    if (isClosed) return;
    isClosed = true;
    write(erase(), show([]));
    stderr.writeAbove = outer;
    write(SHOW_CURSOR);
    io.off('exit', close);
  };
  io.on('exit', close); // also when a second Ctrl-C ends the process at once
  write(HIDE_CURSOR);
  const outer = stderr.writeAbove;
  stderr.writeAbove = (text) => write(erase(), text + show(shown));
  return {
    draw(lines) {
      if (lines.join('\n') !== shown.join('\n')) write(erase(), show(lines));
    },
    close,
  };
}
