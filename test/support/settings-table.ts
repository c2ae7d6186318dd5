import type { z } from 'zod';
import { unwrap } from '../../src/core/contracts/index.ts';

/** Keys of a schema as a Markdown table: key, default, description. */
export function settingsTable(
  shape: Readonly<Record<string, z.ZodType>>,
  keys: readonly string[] = Object.keys(shape),
): string {
  return ['| key | default | |', '|---|---|---|', ...keys.map((key) => tableRow(key, shape[key]!))].join('\n');
}

function tableRow(key: string, schema: z.ZodType): string {
  const { fallback } = unwrap(schema);
  const shown =
    fallback === undefined ? '' : `\`${typeof fallback === 'string' ? fallback : JSON.stringify(fallback)}\``;
  return `| \`${key}\` | ${shown} | ${schema.description ?? ''} |`;
}
