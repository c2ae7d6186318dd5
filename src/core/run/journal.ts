import type { ItemScore } from '../contracts/index.ts';
import { isObject, skillHash } from '../text/index.ts';
import type { RunEvent, Stamp } from './event.ts';
import { findDefinition, unknownKind } from './events/events.ts';
import { anything, define, faultIn, type ListChange, number, optional, tableOf, text } from './events/field.ts';
import { type NamedTasks, NameTable, type PackedScores } from './name-table.ts';

/** 16 hex digits of the SHA-256 of both texts. */
type Digest = (before: string, text: string) => string;

/** What later lines build on: the check of the last line, and the tasks that were named. */
export type LinesBefore = NamedTasks & { readonly check: string };

export type JournalLines = {
  /** The event of the next line, without its newline. Throws when the line was damaged. */
  read(line: string): RunEvent;
  /** The next line, without its newline. */
  write(event: RunEvent): string;
  /** For a reader of later lines. */
  soFar(): LinesBefore;
};

const CHECK = /,"check":"([0-9a-f]{16})"\}$/;
const CHECK_LENGTH = ',"check":"0123456789abcdef"}'.length;

/**
 * The lines of one journal, in order, from the first on or after `linesBefore`.
 *
 * A line is an event as JSON in which tasks are named once: lists of them are packed (`NameTable`), and `names` holds the new
 * names. Its last field is a `check` of this line and of all lines before it. Lines of the first version have no check and are
 * not packed; the first check after them covers them too, and from then on every line has one.
 */
export function journalLines(
  digest: Digest = (before, text) => skillHash(before + text),
  linesBefore?: LinesBefore,
): JournalLines {
  const names = new NameTable(linesBefore);
  const [pack, unpack] = [packWith(names), unpackWith(names)];
  const checks = new CheckChain(digest, linesBefore?.check);

  return {
    read(line) {
      const { isChecked, damaged } = checks.requireNext(line);
      const packed = JSON.parse(line) ?? {};
      const { names: news = [], check: written } = packed;
      delete packed.check; // the last two: taking them off is quicker than copying the rest
      delete packed.names;
      if (!isChecked && written !== undefined) throw new Error(`${damaged}: its check is no check`);
      names.add(news);
      const event = changeLists(packed, unpack) as RunEvent;
      requireKnownFormat(event);
      if (!isChecked) requireOldLine(event); // a line with a check was written by code that knew the event
      return event;
    },
    write(event) {
      const known = names.size;
      const packed = changeLists(event, pack);
      const news = names.since(known);
      return checks.append(JSON.stringify(news.length > 0 ? { ...packed, names: news } : packed));
    },
    soFar: () => ({ check: checks.last, ...names.all() }),
  };
}

/** The checks of the lines, each of which covers all lines before it. */
class CheckChain {
  readonly #digest: Digest;
  #last: string;
  #isChecked: boolean;

  constructor(digest: Digest, last: string | undefined) {
    this.#digest = digest;
    this.#last = last ?? '';
    this.#isChecked = last !== undefined;
  }

  get last(): string {
    return this.#last;
  }

  /** Throws unless the line is the next one. `damaged` is how a message begins if the rest of it turns out to be wrong. */
  requireNext(line: string): { readonly isChecked: boolean; readonly damaged: string } {
    const check = readCheck(line);
    const body = check === undefined ? line : line.slice(0, -CHECK_LENGTH);
    const damaged = this.#last === '' ? 'is damaged' : DAMAGED;
    this.#last = this.#digest(this.#last, body);
    if (check !== undefined && check !== this.#last)
      throw new Error(`${damaged}: it should have the check ${this.#last}`);
    if (check === undefined && this.#isChecked)
      throw new Error(`${DAMAGED}: it has no check, and the line before it has`);
    this.#isChecked = check !== undefined;
    return { isChecked: this.#isChecked, damaged };
  }

  /** The next line: this JSON object with its check as the last field. */
  append(json: string): string {
    const body = json.slice(0, -1);
    this.#last = this.#digest(this.#last, body);
    this.#isChecked = true;
    return `${body},"check":"${this.#last}"}`;
  }
}

const packWith = (names: NameTable): ListChange => ({
  isOwn: false,
  ids: (ids) => (isList(ids) ? names.packIds(ids as string[]) : ids),
  scores: (scores) => (isList(scores) ? names.packScores(scores as ItemScore[]) : scores),
});

const unpackWith = (names: NameTable): ListChange => ({
  isOwn: true,
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

/** The journal was written by a later version, which may mean something else by the same names. */
export class NewerJournal extends Error {}

const FORMAT = 1;

function requireKnownFormat({ type, format }: { readonly type: string; readonly format?: number }): void {
  if (type === 'run-start' && format !== FORMAT)
    throw new NewerJournal(`has format ${format}, and this version of skillopt reads format ${FORMAT}`);
}

/** A line without a check ends with its usage. Otherwise a damaged check would pass for none. */
function requireOldLine(value: object): void {
  const fault = findFault(value);
  if (fault !== undefined) throw new Error(fault);
  const last = Object.keys(value).at(-1);
  if (last !== 'usage') throw new Error(`must end with its usage or a check, but ends with "${last}"`);
}

const isList = Array.isArray;

const changeLists = (event: object, change: ListChange): object =>
  (findDefinition(event) ?? unknownKind).mapLists(event, change) as object;

const { checks: STAMP } = define<Stamp>({
  at: text,
  ms: number,
  usage: tableOf({ isValid: isObject }),
  counted: optional(number),
  threw: optional(number),
  failures: optional(tableOf({ isValid: isObject })),
  answers: optional(tableOf({ isValid: isObject })),
});

/** Why a value is no event that can be folded, as the end of a sentence. */
function findFault(value: unknown): string | undefined {
  if (!isObject(value)) return UNKNOWN;
  const definition = findDefinition(value);
  const isStage = value.type === 'stage-end';
  if (!definition && !isStage) return UNKNOWN;
  const ofStage = { step: number, stage: definition ? anything : never };
  const fault = faultIn({ ...(isStage ? ofStage : definition?.checks), ...STAMP }, value);
  const inStage = isStage && definition ? faultIn(definition.checks, value) : undefined;
  const name = fault ?? inStage;
  return name && `must be a whole ${value.type}, but its "${name}" is missing or of another kind`;
}

const never = { isValid: () => false };
const UNKNOWN = 'must be a JSON object with a "type" that this version knows';
