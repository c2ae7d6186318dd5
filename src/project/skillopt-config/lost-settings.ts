import { suggestion } from '../../core/text/index.ts';
import { isBlank, type KeyRow, type Role, SECTIONS, type Section } from './key-row.ts';
import { findRow, KEY_TABLE } from './key-table.ts';
import type { Layer } from './layer.ts';
import { type RoleBackends, roleBackends } from './role-backends.ts';

/** A line for each setting that a file makes and that nobody here understands. `env` is the environment's name. */
export function lostSettings({ sections }: Layer, env: unknown): string[] {
  const backends = roleBackends(sections.model);
  return SECTIONS.flatMap((section) =>
    Object.entries(sections[section])
      .filter(([, value]) => !isBlank(value))
      .flatMap(([key, value]) => {
        const reason = reasonFor(findRow(section, key), { section, key, value, backends, env });
        return reason === undefined ? [] : [`${section}.${key}: ${reason}`];
      }),
  );
}

type Given = {
  readonly section: Section;
  readonly key: string;
  readonly value: unknown;
  readonly backends: RoleBackends;
  readonly env: unknown;
};

function reasonFor(row: KeyRow | undefined, { section, key, value, backends, env }: Given): string | undefined {
  if (row === undefined) return unknownReason(section, key);
  if (row.harmless?.includes(value)) return undefined;
  if (key === 'reasoning_effort' && isAgent(backends)) return 'Agent CLIs are not told.';
  if (row.isOfOthers && isQuestions(env)) return 'For other environments: qa does not read it.';
  if (row.does === 'mapped' || row.variable !== undefined || !isInUse(row, backends)) return undefined;
  return row.does === 'replaced' ? `${row.why} Set ${row.to}.` : row.why;
}

/** The one environment whose keys are known here. It is also the one of a file that names none. */
const isQuestions = (env: unknown) => env === undefined || env === 'qa';

/** What nobody knows may be a key of an environment's own, and is handed on; a slip would be handed on too. */
function unknownReason(section: Section, key: string): string {
  const names = KEY_TABLE.filter((row) => row.section === section || section === 'env').map((row) => row.key);
  const guess = suggestion(key, names);
  return section === 'env' ? `unknown, handed to the environment as extras.${key}${guess}` : `unknown${guess}`;
}

const isAgent = (backends: RoleBackends) =>
  Object.values(backends).some((name) => /^(claude|codex|copilot|cursor)/.test(name));

function isInUse({ backends: of, role }: KeyRow, backends: RoleBackends): boolean {
  const used = (['optimizer', 'target'] as Role[]).filter((name) => role === undefined || role === name);
  return of === undefined || used.some((name) => of.includes(backends[name]));
}
