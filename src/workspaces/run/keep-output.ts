import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';

export type KeptOutput = {
  /** The beginning of what came, without its last line break. */
  text(): string;
  /** Passes on a last line that has no end. */
  finish(): void;
};

type Keeping = { readonly maxBytes: number; readonly onLine?: ((line: string) => void) | undefined };

/** Reads all that comes, so that nobody waits for us, and keeps what there is room for. */
export function keepOutput(stream: Readable, { maxBytes, onLine }: Keeping): KeptOutput {
  const kept: Buffer[] = [];
  let room = maxBytes;
  const lines = onLine && splitLines(onLine, maxBytes);
  stream.on('error', () => {}); // it is closed when the process that held it is ended
  stream.on('data', (chunk: Buffer) => {
    lines?.push(chunk);
    if (room <= 0) return;
    kept.push(chunk.subarray(0, room));
    room -= chunk.length;
  });
  const text = () => new StringDecoder('utf8').write(Buffer.concat(kept)).replace(/\r?\n$/, '');
  return { text, finish: () => lines?.finish() };
}

/** A line of more than `maxLength` is cut there. */
function splitLines(onLine: (line: string) => void, maxLength: number) {
  const decoder = new StringDecoder('utf8');
  let begun = '';
  return {
    push(chunk: Buffer) {
      const [first = '', ...others] = decoder.write(chunk).split('\n');
      begun += first.slice(0, maxLength - begun.length);
      for (const next of others) {
        onLine(begun);
        begun = next.slice(0, maxLength);
      }
    },
    finish() {
      if (begun !== '') onLine(begun);
      begun = '';
    },
  };
}
