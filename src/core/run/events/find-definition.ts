import { type Definition, listsIn } from './field.ts';
import { RUN_EVENTS } from './run-events.ts';
import { STAGE_EVENTS } from './stage-events.ts';

type Named = { readonly type?: unknown; readonly stage?: unknown };
type Table = Readonly<Record<string, Definition<unknown>>>;

/** The kind of an event by its type, or by its stage if it is the end of one; nothing for a kind of a later version. */
export function findDefinition({ type, stage }: Named): Definition<unknown> | undefined {
  const table: Table = type === 'stage-end' ? STAGE_EVENTS : RUN_EVENTS;
  const name = String(type === 'stage-end' ? stage : type);
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

const everyCheck = [
  ...Object.values<Definition<unknown>>(RUN_EVENTS),
  ...Object.values<Definition<unknown>>(STAGE_EVENTS),
]
  .flatMap(({ checks }) => Object.entries(checks))
  .filter(([, { mapLists }]) => mapLists !== undefined);

/**
 * A kind of a later version: a field with a known name holds the lists that such fields hold. A list that is not read is
 * missing from the names that later lines build on.
 */
export const unknownKind = {
  mapLists: listsIn(Object.fromEntries(everyCheck)) ?? ((value: unknown) => value),
};
