import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import pLimit from 'p-limit';
import type { Fault } from './gateway-dialects.ts';
import { isPacked, unpackBody } from './unpack-body.ts';

/** A body that was read whole, while it waits for its answer. */
export type HeldBody = {
  readonly length: number;
  /** From its beginning, for each try. */
  content(): Buffer | Readable;
};

/** Sees the whole body once, in plain. Returns the bytes to send, or why none are sent. */
type Look = (bytes: Buffer) => Buffer | Fault;
type Use = (body: HeldBody | Fault) => Promise<void>;

/** More than agents send. Providers take up to 32 MB. */
const MAX_BODY_MB = 20;
const MAX_BODY = MAX_BODY_MB * 1_000_000;
/** Without a length, others would wait for all of a body that is too large. Agents' clients give one. */
const MAX_UNANNOUNCED = 4_000_000;
const TOO_LARGE: Fault = {
  status: 413,
  message: `A request may have ${MAX_BODY_MB} MB, also when it is unpacked, and 4 MB without a content-length.`,
};
const UNREADABLE: Fault = { status: 400, message: 'The request cannot be unpacked.' };

/** What one gateway holds in memory. Most requests fit into it. */
const OWN_BYTES = 250_000;
/** Larger bodies of one gateway at a time. They are on disk until they are answered. */
const LARGE_AT_ONCE = 4;
/** All gateways of this process read their larger bodies one after the other. */
const turns = pLimit(1);
/** Agents run on this machine: a body that comes more slowly than this is cut off once others wait for their turn. */
const [PACE_MS, PACE_BYTES] = [1_000, 2_000_000];

/**
 * Where one gateway keeps the bodies of requests until they are answered. Agents are not trusted: whatever they send, all
 * gateways of a process hold a bounded number of bytes together, and no attempt waits long for the body of another.
 */
export class BodyRoom {
  #free = OWN_BYTES;
  readonly #places = pLimit(LARGE_AT_ONCE);
  readonly #queue = pLimit(1); // so that other gateways wait for one body of this one, and not for all

  /** Reads a body, shows it to `look`, and holds it while `use` works. */
  async hold(incoming: IncomingMessage, look: Look, use: Use): Promise<void> {
    const { 'content-encoding': encoding, 'content-length': length } = incoming.headers;
    if (Number(length) > MAX_BODY) return use(TOO_LARGE);
    const body = new GrowingBody(incoming);
    let held = 0;
    const giveBack = () => {
      this.#free += held;
      held = 0;
    };
    try {
      const isWhole = await body.read((size) => {
        if (size - held > this.#free) return false;
        this.#free -= size - held;
        held = size;
        return true;
      });
      if (isWhole && !isPacked(encoding)) return await use(inMemory(look(body.bytes())));
      await this.#places(async () => {
        await using large = await this.#queue(() => turns(() => readLarge(body, look)));
        giveBack();
        await use(large.body);
      });
    } finally {
      giveBack();
    }
  }
}

const inMemory = (bytes: Buffer | Fault): HeldBody | Fault =>
  'status' in bytes ? bytes : { length: bytes.length, content: () => bytes };

/** The rest of a body, unpacked, and then on disk. */
async function readLarge(body: GrowingBody, look: Look) {
  const encoding = body.incoming.headers['content-encoding'];
  const isWhole = await readAtPace(body);
  const bytes = !isWhole ? TOO_LARGE : isPacked(encoding) ? await unpacked(body.bytes(), encoding) : body.bytes();
  const sent = 'status' in bytes ? bytes : look(bytes);
  return 'status' in sent ? { body: sent, async [Symbol.asyncDispose]() {} } : spool(sent);
}

const unpacked = async (packed: Buffer, encoding: string) =>
  (await unpackBody(packed, encoding, MAX_BODY).catch(() => UNREADABLE)) ?? TOO_LARGE;

/** False if it has too many bytes. A caller that is cut off sees its connection end, and may try again. */
async function readAtPace(body: GrowingBody): Promise<boolean> {
  let before = body.length;
  const pace = setInterval(() => {
    if (turns.pendingCount > 0 && body.length - before < PACE_BYTES) body.incoming.destroy();
    before = body.length;
  }, PACE_MS);
  try {
    return await body.read((size) => size <= body.most);
  } finally {
    clearInterval(pace);
  }
}

/** Without a name, so that the file is gone with this process, however that ends. */
async function spool(bytes: Buffer): Promise<{ readonly body: HeldBody } & AsyncDisposable> {
  const path = join(tmpdir(), `skillopt-body-${randomUUID()}`);
  const file = await open(path, 'wx+', 0o600);
  await unlink(path);
  await file.writeFile(bytes);
  const content = () => Readable.from(chunksOf(file)); // a stream of the file itself would close it
  return { body: { length: bytes.length, content }, [Symbol.asyncDispose]: () => file.close() };
}

async function* chunksOf(file: FileHandle): AsyncGenerator<Buffer> {
  for (let position = 0; ; ) {
    const { bytesRead, buffer } = await file.read({ buffer: Buffer.alloc(65_536), position });
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    position += bytesRead;
  }
}

/** One buffer that grows: a body may come byte by byte, and a list of its pieces would take a hundred times its size. */
class GrowingBody {
  length = 0;
  /** As it announces, or may have without that. */
  readonly most: number;
  readonly incoming: IncomingMessage;
  readonly #chunks: AsyncIterator<Buffer>;
  #buffer = Buffer.alloc(0);
  #next: Buffer | undefined;

  constructor(incoming: IncomingMessage) {
    this.incoming = incoming;
    this.most = Number(incoming.headers['content-length'] ?? MAX_UNANNOUNCED);
    this.#chunks = incoming.iterator({ destroyOnReturn: false });
  }

  bytes(): Buffer {
    return this.#buffer.subarray(0, this.length);
  }

  /** Reads to the end, or as long as it may take up this many bytes. */
  async read(mayTake: (bytes: number) => boolean): Promise<boolean> {
    for (;;) {
      this.#next ??= (await this.#chunks.next()).value;
      if (this.#next === undefined) return true;
      const length = this.length + this.#next.length;
      const grown = Math.max(length, Math.min(2 * length, this.most));
      const capacity = length <= this.#buffer.length ? this.#buffer.length : grown;
      if (!mayTake(capacity)) return false;
      if (capacity > this.#buffer.length) this.#buffer = Buffer.concat([this.bytes()], capacity);
      this.#buffer.set(this.#next, this.length);
      this.length = length;
      this.#next = undefined;
    }
  }
}
