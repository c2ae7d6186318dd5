import type { Readable } from 'node:stream';

type LineOptions = {
  /** A line that is longer ends the reading. */
  readonly maxBytes: number;
  readonly onLine: (line: string) => void;
  readonly onTooLong: () => void;
};

const LINE_BREAK = 10;

/** Calls `onLine` with each line, however its bytes are cut into chunks. Text after the last line break is not a line. */
export function readLines(stream: Readable, { maxBytes, onLine, onTooLong }: LineOptions): void {
  let begun: Buffer[] = [];
  let length = 0;
  const add = (part: Buffer) => {
    begun.push(part);
    length += part.length;
    if (length <= maxBytes) return true;
    begun = [];
    stream.destroy();
    onTooLong();
    return false;
  };
  stream.on('data', (chunk: Buffer) => {
    let from = 0;
    for (let at = chunk.indexOf(LINE_BREAK); at !== -1; at = chunk.indexOf(LINE_BREAK, from)) {
      if (!add(chunk.subarray(from, at))) return;
      const line = Buffer.concat(begun).toString('utf8');
      begun = [];
      length = 0;
      from = at + 1;
      onLine(line);
    }
    add(chunk.subarray(from));
  });
}

/** The last bytes of what a program prints, as text. */
export function keepTail(stream: Readable, maxBytes: number): { readonly text: () => string } {
  let kept = Buffer.alloc(0);
  stream.on('data', (chunk: Buffer) => {
    kept = Buffer.concat([kept, chunk.subarray(-maxBytes)]).subarray(-maxBytes);
  });
  return { text: () => kept.toString('utf8').trim() };
}
