import type { VersionRow } from '../../core/page/index.ts';
import type { ListedEdit } from '../../core/run/index.ts';
import { clip, count, dollars, oneLine, percent } from '../../core/text/index.ts';

/** Words and figures that several screens share. The functions of `core/text` make every number, as in the terminal. */

export const scoreChange = (before: number | null, after: number | null) =>
  before === null ? percent(after) : `${percent(before).replace(' %', '')} → ${percent(after)}`;

type Priced = { readonly costUsd: number; readonly isPriced: boolean };

/** `$0.42`, `≥ $0.42` when some calls have no price, `no price` when none has. */
export function priceOf({ costUsd, isPriced }: Priced): string {
  if (isPriced) return `$${dollars(costUsd)}`;
  return costUsd > 0 ? `≥ $${dollars(costUsd)}` : 'no price';
}

const KINDS: Readonly<Record<VersionRow['kind'], string>> = {
  initial: 'first skill',
  candidate: 'candidate',
  part: 'part of its patch',
  shorter: 'shorter skill',
  guidance: 'guidance',
  pruned: 'pruned winner',
};

/** `step 3, candidate`. */
export function versionName({ kind, step }: Pick<VersionRow, 'kind' | 'step'>): string {
  if (kind === 'initial') return KINDS.initial;
  return `${kind === 'guidance' ? 'epoch' : 'step'} ${step}, ${KINDS[kind]}`;
}

type Scored = Pick<VersionRow, 'kind' | 'step' | 'score'>;

/** Two versions that no single step lies between: `first skill 60.0 % → step 6, candidate 97.9 %`. */
export const comparedWords = (from: Scored, to: Scored) => [from, to].map(scoredName).join(' → ');

const scoredName = (version: Scored) =>
  `${versionName(version)} ${version.score === null ? '(not measured)' : percent(version.score)}`;

/** With a capital letter, unless it begins with a name, a path or a command: those stay as they are written. */
export function asSentence(text: string, names: readonly string[] = []): string {
  const isName = (name: string) => name !== '' && text.startsWith(name) && !/[\p{L}\d]/u.test(text.charAt(name.length));
  if ([...names, 'skillopt', 'npx'].some(isName)) return text;
  return text.replace(/^\p{Ll}(?=\p{L}*[,:;.]?(?:\s|$))/u, (letter) => letter.toUpperCase());
}

const OPS: Readonly<Record<string, string>> = {
  append: 'add',
  insert_after: 'insert',
  replace: 'replace',
  delete: 'delete',
  create_file: 'new file',
  delete_file: 'delete file',
  suggest: 'suggest',
  rewrite: 'rewrite',
};

export const opWord = (op: string) => OPS[op] ?? op;

/** Nothing to say of an edit that was applied as it is. */
export const statusWords = (status: string, op: string) =>
  status === `applied_${op}` ? '' : status.replaceAll('_', ' ');

/** An edit on one line: what it writes, or what it takes away. */
export const editLine = ({ content, target }: Pick<ListedEdit, 'content' | 'target'>) =>
  clip(oneLine(content || target).replace(/^[-*] /, ''), 300);

export const MEASURED_BY = {
  own_step: 'measured alone in its step',
  salvage: 'measured alone after its step',
  removal: 'measured by taking it out',
  prune: 'measured by taking it out at the end',
  not_measured: 'not measured alone',
} as const;

export const seconds = (ms: number) =>
  ms < 1000
    ? `${count(Math.round(ms))} ms`
    : ms < 120_000
      ? `${(ms / 1000).toFixed(1)} s`
      : `${(ms / 60_000).toFixed(0)} min`;

/** `17 Nov 03:12`, or with its seconds, by the clock of the reader. */
export function dateWords(at: string, seconds?: '2-digit'): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return '–';
  return date
    .toLocaleString('en-GB', {
      ...{ day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' },
      ...(seconds && { second: seconds }),
    })
    .replace(',', '');
}
