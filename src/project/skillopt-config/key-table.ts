import { type KeyRow, SECTIONS, type Section } from './key-row.ts';
import { modelKeyRows } from './model-key-rows.ts';
import { runKeyRows } from './run-key-rows.ts';

/** Every key that a SkillOpt config may have, and what becomes of it. Code and documentation are made from this. */
export const KEY_TABLE: readonly KeyRow[] = [...modelKeyRows, ...runKeyRows];

/** Other spellings of keys in the section `model`. The spelling of the table wins in the same file. */
export const KEY_ALIASES: ReadonlyMap<string, string> = new Map([
  ['codex_path', 'codex_exec_path'],
  ['codex_cli_bin', 'codex_exec_path'],
  ['codex_bin', 'codex_exec_path'],
  ['sandbox', 'codex_exec_sandbox'],
  ['codex_sandbox', 'codex_exec_sandbox'],
]);

const byPath = new Map(KEY_TABLE.map((row) => [`${row.section}.${row.key}`, row]));
const byFlat = new Map(KEY_TABLE.map((row) => [row.flat, row]));

export const findRow = (section: Section, key: string): KeyRow | undefined => byPath.get(`${section}.${key}`);

/** The row of a name without a section: a flat name, an alias, or the sectioned name of a key such as learning_rate. */
export function findFlat(name: string): KeyRow | undefined {
  return byFlat.get(name) ?? findRow('model', KEY_ALIASES.get(name) ?? '') ?? findRow('optimizer', name);
}

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
