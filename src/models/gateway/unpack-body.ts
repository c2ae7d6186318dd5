import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { Decompress } from 'fzstd';

type Unpack = (packed: Buffer, maxBytes: number) => Promise<Buffer>;

/** Off this thread, and ended once there is more than `maxBytes`. */
const byZlib =
  (unpack: typeof gunzip): Unpack =>
  (packed, maxOutputLength) =>
    promisify<Buffer, object, Buffer>(unpack)(packed, { maxOutputLength });

const UNPACK: Readonly<Record<string, Unpack>> = {
  gzip: byZlib(gunzip),
  br: byZlib(brotliDecompress as typeof gunzip),
  deflate: byZlib(inflate as typeof gunzip),
  zstd: unzstd,
};

export const isPacked = (encoding: unknown): encoding is string => Object.hasOwn(UNPACK, String(encoding));

/** The body in plain. Undefined if it has more than `maxBytes`; throws if it cannot be unpacked. */
export async function unpackBody(packed: Buffer, encoding: string, maxBytes: number): Promise<Buffer | undefined> {
  try {
    return await UNPACK[encoding]!(packed, maxBytes);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') return undefined;
    throw error;
  }
}

const tooLarge = () => Object.assign(new Error('too large'), { code: 'ERR_BUFFER_TOO_LARGE' });

/** The unpacker moves a whole window for each block, on this thread. */
const MAX_WINDOW_BYTES = 8 * 1024 * 1024;
const MAX_MOVED_BYTES = 4_000_000_000;

async function unzstd(packed: Buffer, maxBytes: number): Promise<Buffer> {
  const window = largestWindow(packed);
  if (window > MAX_WINDOW_BYTES) throw tooLarge();
  const blocks: Uint8Array[] = [];
  let [size, moved] = [0, 0];
  const unpacker = new Decompress((block) => {
    size += block.length;
    moved += window;
    if (size > maxBytes || moved > MAX_MOVED_BYTES) throw tooLarge();
    blocks.push(block);
  });
  unpacker.push(packed, true);
  return Buffer.concat(blocks);
}

const FRAME = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

/** Of all frames, as their headers say it. A frame in a single segment has a window of its own size. */
function largestWindow(packed: Buffer): number {
  let largest = 0;
  for (let at = packed.indexOf(FRAME); at !== -1; at = packed.indexOf(FRAME, at + 1)) {
    const [flags = 0, descriptor = 0] = packed.subarray(at + 4, at + 6);
    const isSingle = (flags & 0x20) !== 0;
    const hasLongSize = flags >> 6 > 1;
    if (isSingle && hasLongSize) largest = Math.max(largest, at + 9 <= packed.length ? packed.readUInt32LE(at + 5) : 0);
    else if (!isSingle) largest = Math.max(largest, 2 ** (10 + (descriptor >> 3)) * (1 + (descriptor & 7) / 8));
  }
  return largest;
}
