/** What the fold under way has made: nobody else holds it. */
let own: WeakSet<object> | undefined;

/** A list with one more row: a copy, except where `growing` owns the list. */
export function listWith<Row>(list: readonly Row[], row: Row): readonly Row[] {
  const longer = owned(list, (rows) => rows.slice()) as Row[];
  longer.push(row);
  return longer;
}

/** A list with another row at a place, likewise. */
export function listWithAt<Row>(list: readonly Row[], place: number, row: Row): readonly Row[] {
  const changed = owned(list, (rows) => rows.slice()) as Row[];
  changed[place] = row;
  return changed;
}

/** An object with other fields, likewise. */
export const objectWith = <Fields extends object>(object: Fields, fields: Partial<Fields>): Fields =>
  Object.assign(
    owned(object, (known) => ({ ...known })),
    fields,
  );

function owned<Value extends object>(value: Value, copy: (value: Value) => Value): Value {
  if (own?.has(value)) return value;
  const copied = copy(value);
  own?.add(copied);
  return copied;
}

/**
 * A fold of many rows whose lists and objects change in place: copying a list of thousands and an object of forty fields for each
 * row takes most of the time. Only the last answer may be kept, since earlier ones change with it. What was there before the fold
 * stays as it is.
 */
export function growing<State, Row>(fold: (state: State, row: Row) => State): (state: State, row: Row) => State {
  const made = new WeakSet<object>();
  return (state, row) => {
    own = made;
    try {
      return fold(state, row);
    } finally {
      own = undefined;
    }
  };
}
