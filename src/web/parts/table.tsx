import type { ReactNode } from 'react';

export type Column<Row> = {
  readonly head: string;
  readonly cell: (row: Row) => ReactNode;
  /** Numbers stand at the right. */
  readonly isNumber?: boolean;
  /** What is missing is hatched, so that it never looks like 0. */
  readonly isMissing?: (row: Row) => boolean;
};

export const numbers = <Row,>(head: string, cell: Column<Row>['cell']): Column<Row> => ({ head, cell, isNumber: true });

type TableProps<Row> = {
  /** The first one names the rows. */
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly caption?: string;
  readonly className?: string;
  readonly rowClass?: (row: Row) => string;
};

/** Rows keep their places. A table that is wider than the screen scrolls in itself. */
export function Table<Row>({ columns, rows, caption, className = '', rowClass = () => '' }: TableProps<Row>) {
  const [first, ...others] = columns as readonly [Column<Row>, ...Column<Row>[]];
  return (
    <div className="wide">
      <table className={className}>
        {caption === undefined ? null : <caption>{caption}</caption>}
        <thead>
          <tr>
            {columns.map(({ head, isNumber }) => (
              <th key={head} scope="col" className={isNumber ? 'number' : ''}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows keep their places
            <tr key={index} className={rowClass(row)}>
              <th scope="row">{first.cell(row)}</th>
              {others.map((column) => (
                <td key={column.head} className={classOf(column, row)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const classOf = <Row,>({ isNumber = false, isMissing = () => false }: Column<Row>, row: Row) =>
  `${isNumber ? 'number' : ''} ${isMissing(row) ? 'missing' : ''}`.trim();
