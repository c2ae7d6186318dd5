import { timeOf } from './cursor.ts';
import type { SessionHead, SessionIndex } from './session-index.ts';

export type Tally = {
  readonly sessions: number;
  /** Those that could teach something: kept, and with a prompt. */
  readonly usable: number;
  /** In UTC; empty when no session tells. */
  readonly firstAt: string;
  readonly lastAt: string;
};

export type Overview = Tally & {
  readonly agents: readonly (Tally & { readonly source: string; readonly files: number })[];
  /** Those with most sessions that could teach something first. */
  readonly projects: readonly (Tally & { readonly project: string })[];
};

/** What the index knows, without reading a transcript or a digest. */
export function overview(
  index: SessionIndex,
  { isIgnored = () => false }: { readonly isIgnored?: (head: SessionHead) => boolean } = {},
): Overview {
  const files = index.files();
  const heads = files.flatMap((file) => file.heads).filter((head) => !isIgnored(head));
  const agents = group(heads, ({ source }) => source).map(([source, own]) => ({
    source,
    files: files.filter((file) => file.source === source).length,
    ...tally(own),
  }));
  const projects = group(heads, ({ project }) => project).map(([project, own]) => ({ project, ...tally(own) }));
  return { ...tally(heads), agents: agents.sort(mostFirst), projects: projects.sort(mostFirst) };
}

const mostFirst = (a: Tally, b: Tally) => b.usable - a.usable || b.sessions - a.sessions;

function group(heads: readonly SessionHead[], keyOf: (head: SessionHead) => string): [string, SessionHead[]][] {
  const groups = new Map<string, SessionHead[]>();
  for (const head of heads) {
    const own = groups.get(keyOf(head));
    if (own === undefined) groups.set(keyOf(head), [head]);
    else own.push(head);
  }
  return [...groups];
}

function tally(heads: readonly SessionHead[]): Tally {
  const times = heads.flatMap((head) => [Date.parse(head.startedAt), timeOf(head)]).filter(Number.isFinite);
  const at = (ms: number) => (Number.isFinite(ms) ? new Date(ms).toISOString() : '');
  return {
    sessions: heads.length,
    usable: heads.filter(({ leftOut, prompts }) => leftOut === undefined && prompts > 0).length,
    firstAt: at(times.reduce((first, time) => Math.min(first, time), Number.POSITIVE_INFINITY)),
    lastAt: at(times.reduce((last, time) => Math.max(last, time), Number.NEGATIVE_INFINITY)),
  };
}
