const NEWLINE = 10;

export type LineHandler = {
  readonly maxLineBytes: number;
  /** Without its end. The bytes are those of a chunk, so they hold only until this returns. */
  onLine(line: Buffer): void;
  onTooLong(): void;
};

/** Cuts chunks into lines. A line over the limit is dropped as it comes, so that it never lies in memory. */
export function splitLines({ maxLineBytes, onLine, onTooLong }: LineHandler) {
  let pieces: Buffer[] = [];
  let heldBytes = 0;
  let seenBytes = 0;
  let endedBytes = 0;

  /** A chunk's buffer is used again for the next one, hence the copy. */
  const hold = (piece: Buffer) => {
    heldBytes += piece.length;
    if (heldBytes > maxLineBytes) pieces = [];
    else if (piece.length > 0) pieces.push(Buffer.from(piece));
  };
  const end = (piece: Buffer) => {
    if (heldBytes + piece.length > maxLineBytes) onTooLong();
    else onLine(pieces.length === 0 ? piece : Buffer.concat([...pieces, piece]));
    pieces = [];
    heldBytes = 0;
  };

  return {
    push(chunk: Buffer): void {
      let start = 0;
      for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, start)) {
        end(chunk.subarray(start, at));
        start = at + 1;
        endedBytes = seenBytes + start;
      }
      hold(chunk.subarray(start));
      seenBytes += chunk.length;
    },
    /** Bytes up to the end of the last whole line, and up to the end of all. */
    bytes: () => ({ ended: endedBytes, seen: seenBytes }),
    /** What came after the last whole line. */
    rest(): Buffer | 'too-long' {
      return heldBytes > maxLineBytes ? 'too-long' : Buffer.concat(pieces);
    },
  };
}
