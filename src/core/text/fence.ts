import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { memoize } from './collections.ts';

/** Names a skill document by its text: the first 16 hex digits of its SHA-256. */
export const skillHash = (text: string): string => bytesToHex(sha256(utf8ToBytes(text))).slice(0, 16);

/** An attempt is fenced again for each proposal from its batch, and the skill for each question about it. */
const knownHash = memoize(skillHash, { maxEntries: 200 });
const LONGEST_KNOWN = 10_000;

/** Sets foreign text apart as data. The tag holds a hash that the text does not have, so that the text cannot close it. */
export function fence(kind: string, text: string): string {
  let nonce = (text.length <= LONGEST_KNOWN ? knownHash : skillHash)(text).slice(0, 8);
  while (text.includes(nonce)) nonce = skillHash(`${nonce}${text}`).slice(0, 8);
  const tag = `${kind}-${nonce}`;
  return `<${tag}>\n${text}\n</${tag}>`;
}
