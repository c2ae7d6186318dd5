import { suggestion } from '../closest-name.ts';
import { isBlank, type KeyRow, type Role, SECTIONS, type Section } from './key-row.ts';
import { findRow, KEY_TABLE } from './key-table.ts';
import type { Layer } from './layer.ts';
import { type RoleBackends, roleBackends } from './role-backends.ts';

/** A line for each setting that a file makes and that has no effect here. */
export function lostSettings({ sections }: Layer): string[] {
  const backends = roleBackends(sections.model);
  return SECTIONS.flatMap((section) =>
    Object.entries(sections[section])
      .filter(([, value]) => !isBlank(value))
      .flatMap(([key, value]) => {
        const reason = reasonFor(findRow(section, key), { section, key, value, backends });
        return reason === undefined ? [] : [`${section}.${key}: ${reason}`];
      }),
  );
}

type Given = {
  readonly section: Section;
  readonly key: string;
  readonly value: unknown;
  readonly backends: RoleBackends;
};

function reasonFor(row: KeyRow | undefined, { section, key, value, backends }: Given): string | undefined {
  if (row === undefined) return unknownReason(section, key);
  if (key === 'reasoning_effort' && isAgent(backends)) return 'Agent CLIs are not told.';
  if (row.does === 'mapped' || row.variable !== undefined) return undefined;
  if (row.harmless?.includes(value) || !isInUse(row, backends)) return undefined;
  return row.does === 'replaced' ? `${row.why} Set ${row.to}.` : row.why;
}

/** An environment has keys of its own, so there only a name that is nearly known is worth a word. */
function unknownReason(section: Section, key: string): string | undefined {
  const names = KEY_TABLE.filter((row) => row.section === section || section === 'env').map((row) => row.key);
  const guess = suggestion(key, names);
  if (section !== 'env') return `unknown${guess}`;
  return guess === '' ? undefined : `unknown, left to the environment${guess}`;
}

const isAgent = (backends: RoleBackends) =>
  Object.values(backends).some((name) => /^(claude_chat|codex|copilot)/.test(name));

function isInUse({ backends: of, role }: KeyRow, backends: RoleBackends): boolean {
  const used = (['optimizer', 'target'] as Role[]).filter((name) => role === undefined || role === name);
  return of === undefined || used.some((name) => of.includes(backends[name]));
}
