import type { ItemScore } from '../contracts/index.ts';
import { isObject, skillHash } from '../text/index.ts';
import type { RunEvent, Stamp } from './event.ts';
import { findDefinition, unknownKind } from './events/events.ts';
import { anything, define, faultIn, type ListChange, number, optional, tableOf, text } from './events/field.ts';

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
      const { names: news = [], check: written, ...packed } = JSON.parse(line) ?? {};
      if (!isChecked && written !== undefined) throw new Error(`${damaged}: its check is no check`);
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

type TaskName = readonly [id: string, taskType?: string];

/** A score without its task. Among thousands of scores few marks differ. */
type Mark = Omit<ItemScore, 'id' | 'taskType'>;

/** Scores as columns: the tasks by their places in the table, the different marks, and which one each task got. */
type PackedScores = { readonly tasks: string; readonly marks: readonly Mark[]; readonly got: string };

type NamedTasks = { readonly names: readonly TaskName[]; readonly recent: readonly string[] };

/** How many lists are remembered: steps often repeat the tasks of an earlier list. */
const MOST_RECENT = 8;

/**
 * The names and lists that a journal has used so far. Reader and writer have the same table after the same lines. Unpacking
 * throws when a list names something that the table lacks.
 */
class NameTable {
  readonly #names: TaskName[] = [];
  readonly #places = new Map<string | undefined, Map<string, number>>();
  /** Of each id, with any type: a list of tasks and a list of their scores are the same. */
  readonly #lastPlaces = new Map<string, number>();
  readonly #recent: string[];

  constructor({ names, recent }: NamedTasks = { names: [], recent: [] }) {
    this.add(names);
    this.#recent = [...recent];
  }

  get size(): number {
    return this.#names.length;
  }

  all(): NamedTasks {
    return { names: [...this.#names], recent: [...this.#recent] };
  }

  since(place: number): readonly TaskName[] {
    return this.#names.slice(place);
  }

  add(names: readonly TaskName[]): void {
    for (const [id, taskType] of names) this.#placeOf(id, taskType);
  }

  packIds(ids: readonly string[]): string {
    return this.#pack(ids.map((id) => this.#lastPlaces.get(id) ?? this.#placeOf(id, undefined)));
  }

  unpackIds(text: string): string[] {
    return this.#unpack(text).map(([id]) => id);
  }

  packScores(scores: readonly ItemScore[]): PackedScores {
    const tasks = this.#pack(scores.map(({ id, taskType }) => this.#placeOf(id, taskType)));
    const places = new Map<string, number>();
    const got = scores.map(({ id: _id, taskType: _type, ...mark }) => {
      const text = JSON.stringify(mark);
      const place = places.get(text) ?? places.size;
      places.set(text, place);
      return place;
    });
    const marks = [...places.keys()].map((text): Mark => JSON.parse(text));
    return { tasks, marks, got: toDigits(got, digitsFor(marks.length)) };
  }

  unpackScores({ tasks, marks, got }: PackedScores): ItemScore[] {
    const places = fromDigits(got, digitsFor(marks.length));
    return this.#unpack(tasks).map(([id, taskType], index) => {
      const mark = required(marks[places[index] ?? -1], 'mark');
      return { id, ...mark, ...(taskType === undefined ? {} : { taskType }) };
    });
  }

  #placeOf(id: string, taskType: string | undefined): number {
    const places = this.#places.get(taskType) ?? new Map<string, number>();
    this.#places.set(taskType, places);
    const known = places.get(id);
    if (known !== undefined) return known;
    const place = this.#names.push(taskType === undefined ? [id] : [id, taskType]) - 1;
    places.set(id, place);
    this.#lastPlaces.set(id, place);
    return place;
  }

  /** Digits behind their width; `=2` is the third-last list that differs. */
  #pack(places: readonly number[]): string {
    const width = digitsFor(this.#names.length);
    const text = `${width}${toDigits(places, width)}`;
    const back = this.#recent.indexOf(text);
    this.#keepRecent(text);
    return back === -1 ? text : `=${back}`;
  }

  #unpack(text: string): TaskName[] {
    const whole = text.startsWith('=') ? required(this.#recent[Number(text.slice(1))], 'list') : text;
    this.#keepRecent(whole);
    const places = fromDigits(whole.slice(1), Number(whole[0]) || 1);
    return places.map((place) => required(this.#names[place], 'task'));
  }

  #keepRecent(text: string): void {
    const before = this.#recent.indexOf(text);
    if (before !== -1) this.#recent.splice(before, 1);
    this.#recent.unshift(text);
    this.#recent.splice(MOST_RECENT);
  }
}

function required<Value>(value: Value | undefined, what: string): Value {
  if (value === undefined) throw new Error(`no line before it has this ${what}`);
  return value;
}

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const VALUES = new Map([...DIGITS].map((digit, value) => [digit.charCodeAt(0), value]));

function digitsFor(count: number): number {
  let width = 1;
  while (DIGITS.length ** width < count) width += 1;
  return width;
}

/** Numbers from 0 on as digits of base 64, each of the same width. */
function toDigits(numbers: readonly number[], width: number): string {
  let text = '';
  for (const number of numbers) {
    for (let place = DIGITS.length ** (width - 1); place >= 1; place /= DIGITS.length) {
      text += DIGITS[Math.floor(number / place) % DIGITS.length];
    }
  }
  return text;
}

/** `NaN` for what are no digits. */
function fromDigits(text: string, width: number): number[] {
  const numbers: number[] = [];
  for (let start = 0; start < text.length; start += width) {
    let number = 0;
    for (let place = start; place < start + width; place += 1) {
      number = number * DIGITS.length + (VALUES.get(text.charCodeAt(place)) ?? Number.NaN);
    }
    numbers.push(number);
  }
  return numbers;
}
