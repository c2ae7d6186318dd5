import { promisify } from 'node:util';
import { inflateRaw } from 'node:zlib';
import { megabytes } from '../../imports/index.ts';

const inflate = promisify(inflateRaw);

const MOST_UNPACKED = 200_000_000;
/** A file that grows more than this when it is unpacked was made to do so. Small files may grow: they do no harm. */
const MOST_GROWTH = 200;
const SMALL = 10_000_000;
const MOST_ENTRIES = 10_000;

const [END, ENTRY, LOCAL] = [0x06054b50, 0x02014b50, 0x04034b50];
const [END_SIZE, ENTRY_SIZE, LOCAL_SIZE] = [22, 46, 30];
const [STORED, DEFLATED] = [0, 8];

type Entry = {
  readonly name: string;
  readonly method: number;
  readonly packed: number;
  readonly unpacked: number;
  readonly offset: number;
};

export type Repacked = {
  readonly stored: Uint8Array;
  /** Formulas in its sheets without a stored value. */
  readonly uncalculated: number;
};

/**
 * A workbook with only the parts that hold its cells, unpacked. The sizes in the file are not trusted: they are checked first,
 * and unpacking stops at them. Throws an Error that says what is wrong with the file.
 */
export async function repackWorkbook(bytes: Uint8Array): Promise<Repacked> {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const entries = readDirectory(file).filter(({ name }) => /\.(?:xml|rels)$/i.test(name));
  if (!entries.some(({ name }) => name === '[Content_Types].xml')) throw new Error('it is no Excel workbook (.xlsx)');
  requireModest(entries);
  const parts: Part[] = [];
  const counts: Counts = { cells: 0, values: 0, uncalculated: 0 };
  for (const entry of entries) {
    const content = await unpack(file, entry);
    if (entry.name.includes('worksheets/')) addCells(counts, content.toString('latin1'));
    parts.push({ name: entry.name, content });
  }
  return { stored: store(parts), uncalculated: counts.uncalculated };
}

function readDirectory(file: Buffer): Entry[] {
  const end = file.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'));
  if (file.length < END_SIZE || file.readUInt32LE(0) !== LOCAL || end < 0 || end + END_SIZE > file.length)
    throw new Error('it is no Excel workbook (.xlsx)');
  const count = file.readUInt16LE(end + 10);
  if (count > MOST_ENTRIES) throw new Error(`it holds ${count} parts, more than ${MOST_ENTRIES}`);
  const entries: Entry[] = [];
  let at = file.readUInt32LE(end + 16);
  for (let index = 0; index < count; index++) {
    if (at + ENTRY_SIZE > file.length || file.readUInt32LE(at) !== ENTRY) throw new Error('its directory is damaged');
    const [nameLength, extra, comment] = [28, 30, 32].map((field) => file.readUInt16LE(at + field)) as [
      number,
      number,
      number,
    ];
    const [packed, unpacked] = [file.readUInt32LE(at + 20), file.readUInt32LE(at + 24)];
    const name = file.toString('latin1', at + ENTRY_SIZE, at + ENTRY_SIZE + nameLength);
    entries.push({
      name,
      method: file.readUInt16LE(at + 10),
      packed,
      unpacked,
      offset: file.readUInt32LE(at + 42),
    });
    at += ENTRY_SIZE + nameLength + extra + comment;
  }
  return entries;
}

function requireModest(entries: readonly Entry[]): void {
  const [packed, unpacked] = (['packed', 'unpacked'] as const).map((key) =>
    entries.reduce((sum, entry) => sum + entry[key], 0),
  ) as [number, number];
  if (unpacked > MOST_UNPACKED)
    throw new Error(`it is too large: ${megabytes(unpacked)} unpacked, more than ${megabytes(MOST_UNPACKED)}`);
  if (unpacked > SMALL && unpacked > packed * MOST_GROWTH)
    throw new Error(`unpacking it would make it ${Math.round(unpacked / packed)} times larger`);
}

async function unpack(file: Buffer, { name, method, packed, unpacked, offset }: Entry): Promise<Buffer> {
  if (offset + LOCAL_SIZE > file.length || file.readUInt32LE(offset) !== LOCAL)
    throw new Error(`its part ${name} is damaged`);
  const start = offset + LOCAL_SIZE + file.readUInt16LE(offset + 26) + file.readUInt16LE(offset + 28);
  const content = file.subarray(start, start + packed);
  if (method === STORED && packed === unpacked) return content;
  if (method !== DEFLATED) throw new Error(`its part ${name} is packed in a way that is not read (${method})`);
  return inflate(content, { maxOutputLength: Math.max(1, unpacked) }).catch(() => {
    throw new Error(`its part ${name} is damaged, or larger than it says`);
  });
}

/** As Excel and libraries write a formula that was never calculated. */
const UNCALCULATED = /<\/f>(?:<v ?\/>|<v><\/v>|<\/c>)/g;

type Counts = { cells: number; values: number; uncalculated: number };

/** A million values take half a gigabyte to read. */
const [MOST_CELLS, MOST_VALUES] = [5_000_000, 400_000];

function addCells(counts: Counts, xml: string): void {
  for (const [, name] of xml.matchAll(/<(?:\w{1,20}:)?(c|v|is)[ />]/g)) {
    if (name === 'c') counts.cells++;
    else counts.values++;
    if (counts.cells > MOST_CELLS || counts.values > MOST_VALUES)
      throw new Error(
        `it has more than ${counts.values > MOST_VALUES ? `${MOST_VALUES} values` : `${MOST_CELLS} cells`}`,
      );
  }
  counts.uncalculated += xml.match(UNCALCULATED)?.length ?? 0;
}

type Part = { readonly name: string; readonly content: Buffer };

/** A zip file whose parts are not packed. Check sums are left out: nobody reads them here. */
function store(parts: readonly Part[]): Buffer {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, content } of parts) {
    const title = Buffer.from(name, 'latin1');
    const local = Buffer.alloc(LOCAL_SIZE);
    local.writeUInt32LE(LOCAL, 0);
    const entry = Buffer.alloc(ENTRY_SIZE);
    entry.writeUInt32LE(ENTRY, 0);
    entry.writeUInt32LE(offset, 42);
    for (const [header, sizes, length] of [
      [local, 18, 26],
      [entry, 20, 28],
    ] as const) {
      header.writeUInt32LE(content.length, sizes);
      header.writeUInt32LE(content.length, sizes + 4);
      header.writeUInt16LE(title.length, length);
    }
    locals.push(local, title, content);
    directory.push(entry, title);
    offset += LOCAL_SIZE + title.length + content.length;
  }
  const list = Buffer.concat(directory);
  const end = Buffer.alloc(END_SIZE);
  end.writeUInt32LE(END, 0);
  end.writeUInt16LE(parts.length, 8);
  end.writeUInt16LE(parts.length, 10);
  end.writeUInt32LE(list.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, list, end]);
}
