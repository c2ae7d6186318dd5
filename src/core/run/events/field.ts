import type { Evaluation, ItemScore } from '../../contracts/index.ts';
import type { FailurePattern, Patch } from '../../document/index.ts';
import type { Estimate } from '../../stats/index.ts';
import { isObject } from '../../text/index.ts';
import type { Blame, GateDecision } from '../gate-evidence.ts';
import type { Refusal } from './event-data.ts';

/** How a journal packs or unpacks the lists of tasks and of scores in an event. */
export type ListChange = Readonly<Record<'ids' | 'scores', (value: unknown) => unknown>> & {
  /** Whether the event belongs to nobody else, and is changed in place. */
  readonly isOwn: boolean;
};

type MapLists = (value: unknown, change: ListChange) => unknown;

/** What one field of an event holds. Checked by hand for speed: a long journal has millions of scores. */
type Field<Value> = {
  readonly isValid: (value: unknown) => boolean;
  /** Absent where a value holds no lists of tasks or scores. */
  readonly mapLists?: MapLists | undefined;
  /** Only a type: the compiler refuses a check that does not fit its field. */
  readonly for?: (value: Value) => void;
};

type Fields = Readonly<Record<string, Field<never>>>;
type Checks<Data> = { readonly [Key in keyof Data]?: Field<Data[Key]> };

/** One kind of event: the type of its data, what is checked of it, and which of its lists a journal packs. */
export type Definition<Data> = { readonly checks: Fields; readonly mapLists: MapLists; readonly for?: Data };
export type DataOf<Kind> = Kind extends Definition<infer Data> ? Data : never;

/** Lists are packed in the order of the checks: changing it changes the bytes of a journal. */
export function define<Data>(checks: Checks<Data>): Definition<Data> {
  return { checks: checks as Fields, mapLists: listsIn(checks as Fields) ?? ((value) => value) };
}

/** The name of the first field that is not as it should be. */
export const faultIn = (checks: Fields, value: Readonly<Record<string, unknown>>): string | undefined =>
  Object.keys(checks).find((name) => !checks[name]!.isValid(value[name]));

export const text: Field<string> = { isValid: (value) => typeof value === 'string' };
export const number: Field<number> = { isValid: (value) => typeof value === 'number' };
export const truth: Field<boolean> = { isValid: (value) => typeof value === 'boolean' };
export const anything: Field<unknown> = { isValid: () => true };

export const listOf = <Value>({ isValid, mapLists }: Field<Value>): Field<readonly Value[]> => ({
  isValid: (value) => Array.isArray(value) && value.every(isValid),
  mapLists: mapLists && ((value, change) => (Array.isArray(value) ? value.map((one) => mapLists(one, change)) : value)),
});

export const tableOf = <Value>({ isValid }: Field<Value>): Field<Readonly<Record<string, Value>>> => ({
  isValid: (value) => isObject(value) && Object.values(value).every(isValid),
});

export const optional = <Value>({ isValid, mapLists }: Field<Value>): Field<Value | undefined> => ({
  isValid: (value) => value === undefined || isValid(value),
  mapLists,
});

export const orNull = <Value>({ isValid, mapLists }: Field<Value>): Field<Value | null> => ({
  isValid: (value) => value === null || isValid(value),
  mapLists,
});

export const object = <Data>(checks: Checks<Data>): Field<Data> => ({
  isValid: (value) => isObject(value) && faultIn(checks as Fields, value) === undefined,
  mapLists: listsIn(checks as Fields),
});

/** Keeps the order of the fields: it is their order in the line. */
export function listsIn(checks: Fields): MapLists | undefined {
  const maps = Object.entries(checks).flatMap(([key, { mapLists }]) => (mapLists ? [[key, mapLists] as const] : []));
  if (maps.length === 0) return undefined;
  return (value, change) => {
    if (typeof value !== 'object' || value === null) return value;
    const changed = (change.isOwn ? value : { ...value }) as Record<string, unknown>;
    for (const [key, mapLists] of maps) {
      if (changed[key] !== undefined && changed[key] !== null) changed[key] = mapLists(changed[key], change);
    }
    return changed;
  };
}

export const texts = listOf(text);

/** Ids of tasks, which a journal names once. */
export const taskIds: Field<readonly string[]> = { ...texts, mapLists: (value, { ids }) => ids(value) };

const scores: Field<readonly ItemScore[]> = {
  ...listOf({
    isValid: (value) => {
      const { id, hard, soft } = (value ?? {}) as Readonly<Record<string, unknown>>;
      return typeof id === 'string' && typeof hard === 'number' && typeof soft === 'number';
    },
  }),
  mapLists: (value, change) => change.scores(value),
};

export const pass = object<{ readonly hard: number; readonly soft: number }>({ hard: number, soft: number });
export const evaluation = object<Evaluation>({ hard: number, soft: number, scores });
export const patch = object<Patch>({ edits: listOf(object({ op: text, content: text, target: text })) });
export const refused = optional(listOf(object<Refusal>({ reason: text })));
export const estimate = optional(object<Estimate>({ value: number, interval: object({ low: number, high: number }) }));
export const failurePatterns = optional(listOf(object<FailurePattern>({ type: text, count: number, taskIds })));

const movement = optional(object<{ readonly items: readonly string[] }>({ items: taskIds }));
const decision = object<GateDecision>({
  verdict: text,
  reason: text,
  total: number,
  gains: movement,
  regressions: movement,
  refreshed: scores,
  confirmation: optional(scores),
  veto: optional(object<NonNullable<GateDecision['veto']>>({ incumbent: scores, candidate: scores })),
});

export const candidate = { candidateSkill: text, candidateHash: text };
export const judged = {
  evaluation: orNull(evaluation),
  score: number,
  action: text,
  decision: optional(decision),
  blame: optional(object<Blame>({ threw: number, total: number, reason: text, asked: number })),
};
