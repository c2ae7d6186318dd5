import type { RunEvent } from '../run/event.ts';
import type { ListChange } from '../run/events/field.ts';
import { findDefinition, unknownKind } from '../run/events/find-definition.ts';
import type { ItemScore } from '../score.ts';
import { skillHash } from '../skill/skill-hash.ts';
import { findFault } from './event-shape.ts';
import { type Named, NameTable, type PackedScores } from './name-table.ts';

/** 16 hex digits of the SHA-256 of one text after the other. */
type Digest = (before: string, text: string) => string;

/** What the lines so far leave to those that follow: the check of the last one, and the tasks that they have named. */
export type LinesBefore = Named & { readonly check: string };

export type JournalLines = {
  /** The event of the next line, without its newline. Throws when the line is not what was written there. */
  read(line: string): RunEvent;
  /** The next line, without its newline. */
  write(event: RunEvent): string;
  /** For who reads the lines that follow without these. */
  soFar(): LinesBefore;
};

const CHECK = /,"check":"([0-9a-f]{16})"\}$/;
const CHECK_LENGTH = ',"check":"0123456789abcdef"}'.length;

/**
 * The lines of one journal, in order, from the first on, or after those that are known to be whole and to end with a check.
 *
 * A line is an event as JSON in which tasks are named once: lists of them are packed (`NameTable`), and `names` holds those
 * that are new. Its last field is a `check` of the line and of all lines before it. Lines from before there were checks
 * have none and are not packed; the first check after them covers them too, and from then on every line has one.
 */
export function journalLines(
  digest: Digest = (before, text) => skillHash(before + text),
  linesBefore?: LinesBefore,
): JournalLines {
  const names = new NameTable(linesBefore);
  const [pack, unpack] = [packWith(names), unpackWith(names)];
  let [previous, isChecked] = [linesBefore?.check ?? '', linesBefore !== undefined];

  return {
    read(line) {
      const check = readCheck(line);
      const body = check === undefined ? line : line.slice(0, -CHECK_LENGTH);
      const damaged = previous === '' ? 'is damaged' : DAMAGED;
      previous = digest(previous, body);
      if (check !== undefined && check !== previous)
        throw new Error(`${damaged}: it should have the check ${previous}`);
      if (check === undefined && isChecked) throw new Error(`${DAMAGED}: it has no check, and the line before it has`);
      isChecked = check !== undefined;
      const { names: news = [], check: _check, ...packed } = JSON.parse(line) ?? {};
      names.add(news);
      const event = changeLists(packed, unpack) as RunEvent;
      if (!isChecked) requireOldLine(event); // a line with a check was written by code that knew the event
      return event;
    },
    write(event) {
      const known = names.size;
      const packed = changeLists(event, pack);
      const news = names.since(known);
      const body = JSON.stringify(news.length > 0 ? { ...packed, names: news } : packed).slice(0, -1);
      previous = digest(previous, body);
      isChecked = true;
      return `${body},"check":"${previous}"}`;
    },
    soFar: () => ({ check: previous, ...names.all() }),
  };
}

const packWith = (names: NameTable): ListChange => ({
  ids: (ids) => (isList(ids) ? names.packIds(ids as string[]) : ids),
  scores: (scores) => (isList(scores) ? names.packScores(scores as ItemScore[]) : scores),
});

const unpackWith = (names: NameTable): ListChange => ({
  ids: (ids) => (typeof ids === 'string' ? names.unpackIds(ids) : ids),
  scores: (scores) => (isList(scores) ? scores : names.unpackScores(scores as PackedScores)),
});

const DAMAGED = 'is damaged, or a line before it was changed, moved or lost';

const WINDOWS =
  'ends with CRLF, as if an editor or git had changed the line ends of the file; they must be LF (tr -d "\\r" undoes it)';

function readCheck(line: string): string | undefined {
  if (line.endsWith('\r') && CHECK.test(line.slice(-CHECK_LENGTH - 1, -1))) throw new Error(WINDOWS);
  return CHECK.exec(line.slice(-CHECK_LENGTH))?.[1];
}

/** The last field of every line without a check is its usage. Otherwise a damaged check would pass for none. */
function requireOldLine(value: object): void {
  const fault = findFault(value);
  if (fault !== undefined) throw new Error(fault);
  const last = Object.keys(value).at(-1);
  if (last !== 'usage') throw new Error(`must end with its usage or a check, but ends with "${last}"`);
}

const isList = Array.isArray;

const changeLists = (event: object, change: ListChange): object =>
  (findDefinition(event) ?? unknownKind).mapLists(event, change) as object;
