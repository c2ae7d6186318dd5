import pLimit from 'p-limit';
import { groupBy } from '../../core/text/index.ts';
import {
  type Place,
  type ReadOptions,
  type ReadSoFar,
  SessionDigest,
  type TranscriptFile,
  type TranscriptSource,
  type Trouble,
} from '../../transcripts/index.ts';
import { DATABASE, type IndexedFile, printOf, type SessionHead, type SessionIndex, timeOf } from './session-index.ts';

export type HarvestProgress = { readonly source: string; readonly done: number; readonly total: number };

/** What was wrong with a file, or with a folder that could not be listed. */
export type FileTrouble = { readonly source: string; readonly path: string; readonly trouble: Trouble };

export type UpdateOptions = {
  readonly sources: readonly TranscriptSource[];
  readonly place: Place;
  readonly index: SessionIndex;
  readonly now: number;
  readonly redact?: ReadOptions['redact'];
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: HarvestProgress) => void) | undefined;
};

export type IndexUpdate = { readonly files: number; readonly read: number; readonly trouble: readonly FileTrouble[] };

/** A file can change within one tick of its clock and keep its size and time: only an older file is settled. */
const SETTLED_MS = 2_000;
const AT_ONCE = 4;
const PER_COMMIT = 32;

/** Brings the index up to date: unchanged files are not opened, grown ones are read from where they were left. */
export async function updateIndex(options: UpdateOptions): Promise<IndexUpdate> {
  const { damages } = options.index;
  const known = groupBy(options.index.files(), ({ source }) => source);
  const updates: IndexUpdate[] = [];
  for (const source of options.sources) {
    const own = known.find(([file]) => file!.source === source.name) ?? [];
    updates.push(await updateSource(source, new Map(own.map((file) => [file.path, file])), options));
  }
  if (options.index.damages > damages) return updateIndex(options); // the index has begun again
  return {
    files: updates.reduce((sum, { files }) => sum + files, 0),
    read: updates.reduce((sum, { read }) => sum + read, 0),
    trouble: updates.flatMap(({ trouble }) => trouble),
  };
}

async function updateSource(
  source: TranscriptSource,
  known: ReadonlyMap<string, IndexedFile>,
  options: UpdateOptions,
): Promise<IndexUpdate> {
  const { files, unlisted } = await listFiles(source, options);
  const changed = files.filter((file) => !isUnchanged(file, known.get(file.path)));
  const { read, failed } = await readFiles(source, changed, known, options);
  const paths = new Set(files.map(({ path }) => path));
  // A folder that cannot be listed now may be there again tomorrow.
  if (unlisted.length === 0) options.index.drop([...known.values()].filter(({ path }) => !paths.has(path)));
  const now = new Map([...known, ...read.map((file) => [file.path, file] as const)]);
  const inFiles = files.flatMap(({ path }) => troubleOf(now.get(path)));
  return { files: files.length, read: changed.length, trouble: [...unlisted, ...failed, ...inFiles] };
}

const troubleOf = (file: IndexedFile | undefined): FileTrouble[] =>
  file !== undefined && Object.values(file.trouble).some((count) => count > 0)
    ? [{ source: file.source, path: file.path, trouble: file.trouble }]
    : [];

async function listFiles(source: TranscriptSource, { place, signal }: UpdateOptions) {
  const files = new Map<string, TranscriptFile>();
  const unlisted: FileTrouble[] = [];
  for (const root of source.roots(place)) {
    signal?.throwIfAborted();
    try {
      for (const file of await source.list(root)) files.set(file.path, file);
    } catch {
      unlisted.push({ source: source.name, path: root, trouble: { unreadable: 1 } });
    }
  }
  return { files: [...files.values()], unlisted };
}

function isUnchanged(file: TranscriptFile, row: IndexedFile | undefined): boolean {
  if (row === undefined || row.trouble.unreadable) return false; // an unreadable file may be readable by now
  const isSame = row.identity === file.identity && row.size === file.size && row.mtimeMs === file.mtimeMs;
  return isSame && row.mtimeMs <= row.checkedAt - SETTLED_MS;
}

/** Those that failed are tried again the next time. */
async function readFiles(
  source: TranscriptSource,
  files: readonly TranscriptFile[],
  known: ReadonlyMap<string, IndexedFile>,
  options: UpdateOptions,
): Promise<{ readonly read: readonly IndexedFile[]; readonly failed: readonly FileTrouble[] }> {
  const { index, signal, onProgress } = options;
  const [limit, ready, read, failed] = [pLimit(AT_ONCE), [] as IndexedFile[], [] as IndexedFile[], [] as FileTrouble[]];
  let done = 0;
  const readOne = async (file: TranscriptFile) => {
    try {
      const indexed = await readFile(source, file, known.get(file.path), options);
      ready.push(indexed);
      read.push(indexed);
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof TypeError || error instanceof ReferenceError) throw error; // a bug
      failed.push({ source: source.name, path: file.path, trouble: { unreadable: 1 } });
    }
    if (ready.length >= PER_COMMIT) index.put(ready.splice(0));
    onProgress?.({ source: source.name, done: ++done, total: files.length });
  };
  try {
    await Promise.all(files.map((file) => limit(readOne, file)));
  } finally {
    limit.clearQueue();
    index.put(ready.splice(0)); // an interrupted harvest keeps what it has read
  }
  return { read, failed };
}

async function readFile(
  source: TranscriptSource,
  file: TranscriptFile,
  row: IndexedFile | undefined,
  { place, signal, now, redact }: UpdateOptions,
): Promise<IndexedFile> {
  signal?.throwIfAborted();
  const before = row === undefined ? undefined : soFar(file, row);
  const { position, sessions, trouble } = await source.read(file, { place, before, redact, signal, factsOnly: true });
  const heads = sessions.map((session) => headOf(source.name, session));
  const print = printOf(file.path, file.size);
  return { ...file, source: source.name, checkedAt: now, position, print, trouble, heads };
}

/** Only a file that was appended to is read on. A database may change without growing, and knows what is new. */
function soFar(file: TranscriptFile, row: IndexedFile): ReadSoFar | undefined {
  if (row.identity !== file.identity || row.trouble.unreadable) return undefined;
  if (row.print !== DATABASE && file.size <= row.size) return undefined;
  if (row.print === '' || printOf(file.path, row.size) !== row.print) return undefined;
  return { position: row.position, sessions: row.heads.map((head) => SessionDigest.parse(head)) };
}

function headOf(source: string, session: SessionDigest): SessionHead {
  const { sessionId, project, folder, startedAt, endedAt, nUserTurns, nAssistantTurns, leftOut } = session;
  return { source, sessionId, project, folder, startedAt, endedAt, nUserTurns, nAssistantTurns, leftOut };
}

export type Tally = {
  readonly sessions: number;
  /** Sessions that could teach something: kept, and with a prompt. */
  readonly usable: number;
  /** In UTC; empty when no session has a time. */
  readonly firstAt: string;
  readonly lastAt: string;
};

/** Agents and projects with the most usable sessions come first. */
export type Overview = Tally & {
  readonly agents: readonly (Tally & { readonly source: string; readonly files: number })[];
  readonly projects: readonly (Tally & { readonly project: string })[];
};

/** What the index knows, without reading a transcript or a digest. */
export function overview(
  index: SessionIndex,
  { isIgnored = () => false }: { readonly isIgnored?: (head: SessionHead) => boolean } = {},
): Overview {
  const files = index.files();
  const heads = files.flatMap((file) => file.heads).filter((head) => !isIgnored(head));
  const agents = groupBy(heads, ({ source }) => source).map((own) => {
    const { source } = own[0]!;
    return { source, files: files.filter((file) => file.source === source).length, ...tally(own) };
  });
  const projects = groupBy(heads, ({ project }) => project).map((own) => ({
    ...{ project: own[0]!.project, ...tally(own) },
  }));
  return { ...tally(heads), agents: agents.sort(mostFirst), projects: projects.sort(mostFirst) };
}

const mostFirst = (a: Tally, b: Tally) => b.usable - a.usable || b.sessions - a.sessions;

function tally(heads: readonly SessionHead[]): Tally {
  const times = heads.flatMap((head) => [Date.parse(head.startedAt), timeOf(head)]).filter(Number.isFinite);
  const at = (ms: number) => (Number.isFinite(ms) ? new Date(ms).toISOString() : '');
  return {
    sessions: heads.length,
    usable: heads.filter(({ leftOut, nUserTurns }) => leftOut === undefined && nUserTurns > 0).length,
    firstAt: at(times.reduce((first, time) => Math.min(first, time), Number.POSITIVE_INFINITY)),
    lastAt: at(times.reduce((last, time) => Math.max(last, time), Number.NEGATIVE_INFINITY)),
  };
}
