import { isUtf8 } from 'node:buffer';
import { isArrayBuffer } from 'node:util/types';
import type Libsql from 'libsql';
import type { TroubleKind } from '../transcript-source.ts';

type Database = InstanceType<typeof Libsql>;

/** Columns by name, each with its SQL expression, and the rest of the statement. */
type Query<Text extends string, Figure extends string> = {
  readonly texts?: Readonly<Record<Text, string>>;
  readonly figures?: Readonly<Record<Figure, string>>;
  readonly from: string;
};
type Row<Text extends string, Figure extends string> = Readonly<
  Record<Text, string | undefined> & Record<Figure, number | undefined>
>;

export type ForeignDatabase = {
  /** Throws `DamagedRows` when this part of the file cannot be read; others may be fine. */
  rows<Text extends string = never, Figure extends string = never>(
    query: Query<Text, Figure>,
    ...values: readonly (string | number)[]
  ): readonly Row<Text, Figure>[];
  /** Whether it is a plain table with all these columns: a view could compute for ever. */
  hasTable(table: string, columns: readonly string[]): boolean;
  count(kind: TroubleKind): void;
};

export class DamagedRows extends Error {}
/** Another process holds the file, or its log cannot be opened here: a copy may be read. */
export class Obstructed extends Error {}

/** Nothing in somebody else's schema may run code, and a file that shrinks while it is mapped would end the process. */
export function prepareReading(database: Database): void {
  const settings = ['busy_timeout = 2000', 'mmap_size = 0', 'query_only = ON', 'trusted_schema = OFF'];
  for (const setting of [...settings, 'cell_size_check = ON']) drive(() => database.pragma(setting));
}

export function foreignDatabase(database: Database, count: (kind: TroubleKind) => void): ForeignDatabase {
  const all = (sql: string, values: readonly (string | number)[]) =>
    drive(() => database.prepare(sql).all(...values)) as Record<string, unknown>[];
  const rows: ForeignDatabase['rows'] = ({ texts = {}, figures = {}, from }, ...values) =>
    all(`SELECT ${selected(texts, figures)} ${from}`, values).map((row) => decode(row, texts, figures, count));
  return {
    rows,
    count,
    hasTable(table, columns) {
      const kind = `FROM sqlite_schema WHERE type = 'table' AND name = ? AND sql NOT LIKE 'create virtual%'`;
      if (rows({ figures: { one: '1' }, from: kind }, table).length === 0) return false;
      const found = rows({ texts: { name: 'name' }, from: 'FROM pragma_table_info(?)' }, table);
      return columns.every((column) => found.some(({ name }) => name === column));
    },
  };
}

type Expressions = Readonly<Record<string, string>>;

/** Text comes as bytes, for the driver ends the whole process at a text that is not UTF-8. */
function selected(texts: Expressions, figures: Expressions): string {
  const cast =
    (type: string) =>
    ([name, expression]: [string, string]) =>
      `CAST(${expression} AS ${type}) AS ${name}`;
  return [...Object.entries(texts).map(cast('BLOB')), ...Object.entries(figures).map(cast('INTEGER'))].join(', ');
}

function decode<Text extends string, Figure extends string>(
  row: Record<string, unknown>,
  texts: Readonly<Record<Text, string>> | object,
  figures: Readonly<Record<Figure, string>> | object,
  count: (kind: TroubleKind) => void,
): Row<Text, Figure> {
  const decoded: Record<string, unknown> = {};
  for (const name of Object.keys(figures)) decoded[name] = row[name] ?? undefined;
  for (const name of Object.keys(texts)) decoded[name] = toText(row[name], count);
  return decoded as Row<Text, Figure>;
}

function toText(bytes: unknown, count: (kind: TroubleKind) => void): string | undefined {
  if (!isArrayBuffer(bytes)) return undefined;
  if (!isUtf8(bytes)) count('invalid-utf8');
  return Buffer.from(bytes).toString('utf8');
}

/** Every call of the driver. A statement is always read to its end: until then it would keep the agent from writing. */
export function drive<Value>(call: () => Value): Value {
  try {
    return call();
  } catch (error) {
    if (!(error instanceof Error) || error instanceof TypeError) throw error;
    const code = 'code' in error ? String(error.code) : '';
    throw OBSTACLE.test(code) ? new Obstructed(code) : new DamagedRows(code);
  }
}

const OBSTACLE = /^SQLITE_(BUSY|LOCKED|CANTOPEN|READONLY|PROTOCOL|IOERR|PERM)/;
