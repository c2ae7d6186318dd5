import type { ChatMessage } from '../core/model.ts';
import { textOf } from './text-of.ts';

/** What an optimizer is asked to do. */
export type Assignment = 'read-failures' | 'read-successes' | 'merge' | 'rank';

/** The parts of an optimizer prompt that a reader needs, taken out of their fences. */
export type OptimizerPrompt = {
  readonly assignment: Assignment;
  readonly skill: string;
  /** The number in «at most N»: of edits to propose, or to keep. */
  readonly limit: number;
  readonly trajectories: readonly string[];
  readonly patches: readonly string[];
  readonly edits: string;
};

const BLOCK = /<(skill|trajectory|patches|edits)-([0-9a-f]{8})>\n?([\s\S]*?)\n?<\/\1-\2>/g;
const DEFAULT_LIMIT = 4;

/** Reads a prompt by its text alone, since nothing else crosses HTTP. Total: missing parts are empty. */
export function readPrompt(messages: readonly ChatMessage[]): OptimizerPrompt {
  const system = textOf(messages, 'system');
  const user = textOf(messages, 'user');
  const blocks = [...user.matchAll(BLOCK)].map(([, kind, , body = '']) => ({ kind, body }));
  const bodies = (wanted: string) => blocks.flatMap(({ kind, body }) => (kind === wanted ? [body] : []));
  const headings = user.replace(BLOCK, '');
  return {
    assignment: tellAssignment(system, headings),
    skill: bodies('skill')[0] ?? '',
    limit: Number(headings.match(/\bat most (\d{1,6})\b/i)?.[1] ?? DEFAULT_LIMIT),
    trajectories: bodies('trajectory'),
    patches: bodies('patches'),
    edits: bodies('edits').join('\n'),
  };
}

/** By the reply that the system text asks for; a prompt in other words is told by its headings. */
function tellAssignment(system: string, headings: string): Assignment {
  if (system.includes('selected_indices')) return 'rank';
  if (system.includes('support_count')) return 'merge';
  if (system.includes('failure_summary')) return 'read-failures';
  if (system.includes('success_patterns')) return 'read-successes';
  if (/^## Edits \(/m.test(headings)) return 'rank';
  if (/^## (?:Patches|Failure patch|Success patch)/m.test(headings)) return 'merge';
  return /^## Trajectories \(\d+ succeeded\)/m.test(headings) ? 'read-successes' : 'read-failures';
}
