import type { ItemScore } from '../contracts/index.ts';

type TaskName = readonly [id: string, taskType?: string];

/** A score without its task. Among thousands of scores few marks differ. */
type Mark = Omit<ItemScore, 'id' | 'taskType'>;

/** Scores as columns: the tasks by their places in the table, the different marks, and which one each task got. */
export type PackedScores = { readonly tasks: string; readonly marks: readonly Mark[]; readonly got: string };

export type NamedTasks = { readonly names: readonly TaskName[]; readonly recent: readonly string[] };

/** How many lists are remembered: steps often repeat the tasks of an earlier list. */
const MOST_RECENT = 8;

/** How many marks a list may have, and how many are remembered, for their scores to be kept: more would fill the memory. */
const MOST_MARKS = 32;

/**
 * The names and lists that a journal has used so far. Reader and writer have the same table after the same lines. Unpacking
 * throws when a list names something that the table lacks.
 */
export class NameTable {
  readonly #names: TaskName[] = [];
  readonly #places = new Map<string | undefined, Map<string, number>>();
  /** Of each id, with any type: a list of tasks and a list of their scores are the same. */
  readonly #lastPlaces = new Map<string, number>();
  readonly #recent: string[];
  /** By mark and place, since thousands of lines give the same tasks the same few marks. */
  readonly #scores = new Map<string, ItemScore[]>();

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
    return this.#unpack(text).map((place) => required(this.#names[place], 'task')[0]);
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
    const known = marks.length > MOST_MARKS ? [] : marks.map((mark) => this.#scoresWith(mark));
    const markPlaces = fromDigits(got, digitsFor(marks.length));
    const places = this.#unpack(tasks);
    const scores = new Array<ItemScore>(places.length);
    for (let index = 0; index < places.length; index += 1) {
      const [place, markPlace] = [places[index]!, markPlaces[index] ?? -1];
      const score = known[markPlace]?.[place] ?? this.#scoreAt(place, required(marks[markPlace], 'mark'));
      if (known[markPlace]) known[markPlace][place] = score;
      scores[index] = score;
    }
    return scores;
  }

  #scoreAt(place: number, mark: Mark): ItemScore {
    const [id, taskType] = required(this.#names[place], 'task');
    return { id, ...mark, ...(taskType === undefined ? {} : { taskType }) };
  }

  #scoresWith(mark: Mark): ItemScore[] {
    const text = JSON.stringify(mark);
    const known = this.#scores.get(text);
    if (known) return known;
    if (this.#scores.size === MOST_MARKS) this.#scores.clear();
    const scores = new Array<ItemScore>(this.#names.length);
    this.#scores.set(text, scores);
    return scores;
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

  /** Digits after their width; `=2` is the third-last list that differs. */
  #pack(places: readonly number[]): string {
    const width = digitsFor(this.#names.length);
    const text = `${width}${toDigits(places, width)}`;
    const back = this.#recent.indexOf(text);
    this.#keepRecent(text);
    return back === -1 ? text : `=${back}`;
  }

  /** Places in the table; some may be none. */
  #unpack(text: string): number[] {
    const whole = text.startsWith('=') ? required(this.#recent[Number(text.slice(1))], 'list') : text;
    this.#keepRecent(whole);
    return fromDigits(whole.slice(1), Number(whole[0]) || 1);
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
/** By the code of the character. */
const VALUES = Array.from({ length: 128 }, (_, code) => {
  const value = DIGITS.indexOf(String.fromCharCode(code));
  return value === -1 ? Number.NaN : value;
});

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
      number = number * DIGITS.length + (VALUES[text.charCodeAt(place)] ?? Number.NaN);
    }
    numbers.push(number);
  }
  return numbers;
}
