import { type KeyRow, SECTIONS } from './key-row.ts';
import { KEY_TABLE } from './key-table.ts';

/** The table as Markdown, a section after the other. */
export function renderKeyTable(): string {
  return SECTIONS.map((section) => {
    const rows = KEY_TABLE.filter((row) => row.section === section).map(renderRow);
    return [`### ${section}`, '', '| key | flat | here | |', '|---|---|---|---|', ...rows].join('\n');
  }).join('\n\n');
}

export function renderRow({ key, flat, does, to, why }: KeyRow): string {
  const here = to === undefined ? does : `${does}: ${to}`;
  return `| \`${key}\` | ${flat === key ? '' : `\`${flat}\``} | ${here} | ${why ?? ''} |`;
}
