import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { head, strip } from '../../core/text/index.ts';

/** Below this an intent says nothing. In code points, as all lengths here. */
const SHORTEST_INTENT = 8;

/** The beginning of a text, with a mark where something is missing. */
export function short(text: string, length: number): string {
  const stripped = strip(text);
  const start = head(stripped, length);
  return start.length === stripped.length ? stripped : `${start} …`;
}

export const isTooShort = (text: string) => [...head(strip(text), SHORTEST_INTENT)].length < SHORTEST_INTENT;

/** The same request in the same project is the same task on every night. */
export const heuristicTaskId = (project: string, intent: string) => `task_${digest(`${project}::${intent}`)}`;
export const minedTaskId = (project: string, intent: string) => `llm_${digest(`${project}${intent}`)}`;

const digest = (text: string) => bytesToHex(sha256(utf8ToBytes(text))).slice(0, 12);

/** A fence of code to its end, or to the end of the text when it is not closed. */
const CODE_FENCE = /^[ \t]*(`{3,}|~{3,})[^\n]*(?:\n(?![ \t]*\1)[^\n]*)*(?:\n[ \t]*\1[`~]*|$)/gm;
const QUOTED_LINES = /^[ \t]*>[^\n]*(?:\n[ \t]*>[^\n]*)*/gm;

/** Without code blocks and quotations: what is pasted is somebody else's words, and may not become a rule. */
export function withoutQuotes(text: string): string {
  return text.replace(CODE_FENCE, LEFT_OUT).replace(QUOTED_LINES, LEFT_OUT);
}

const LEFT_OUT = '(quoted text left out)';
