import type { ItemScore } from '../score.ts';
import { digitsFor, fromDigits, toDigits } from './digits.ts';

/** A task as a journal names it: once, with its type if it has one. */
export type TaskName = readonly [id: string, taskType?: string];

/** All of a score but whose it is. Among thousands of scores few marks differ. */
type Mark = Omit<ItemScore, 'id' | 'taskType'>;

/** Scores as columns: the tasks by their places in the table, the marks there are, and which one each task got. */
export type PackedScores = { readonly tasks: string; readonly marks: readonly Mark[]; readonly got: string };

/** All that a table holds, to be written down. */
export type Named = { readonly names: readonly TaskName[]; readonly recent: readonly string[] };

/** Lists that are looked back at: those of a step often have the same tasks, or those of the step before. */
const MOST_RECENT = 8;

/**
 * The names and lists that a journal has used so far. A reader that unpacks what was packed, in the same order, has the same table.
 * Unpacking throws when a list speaks of what the table does not have.
 */
export class NameTable {
  readonly #names: TaskName[] = [];
  readonly #places = new Map<string | undefined, Map<string, number>>();
  /** Of each id, with whatever type: so that its tasks and their scores are the same list. */
  readonly #lastPlaces = new Map<string, number>();
  readonly #recent: string[];

  constructor({ names, recent }: Named = { names: [], recent: [] }) {
    this.add(names);
    this.#recent = [...recent];
  }

  get size(): number {
    return this.#names.length;
  }

  all(): Named {
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
