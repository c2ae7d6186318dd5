import { loadItems } from '../read/load-items.ts';
import { parseRows } from '../read/parse-rows.ts';
import type { Row } from '../read/row.ts';
import { QA_ITEM_HINT, QaItem } from './qa-item.ts';

/** The tasks of a file, checked, each with its place and the split that its `split` field names, if any. */
export async function loadQaItems(path: string): Promise<Row<QaItem>[]> {
  const rows = await loadItems(path);
  return parseRows(rows.map(withSplit), { schema: QaItem, hint: QA_ITEM_HINT });
}

function withSplit(row: Row): Row {
  const split = (row.value as { split?: unknown } | null)?.split;
  return split == null || split === '' ? row : { ...row, split: String(split) };
}
