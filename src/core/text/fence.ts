import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

/** Names a skill document by its text: the first 16 hex digits of its SHA-256. */
export function skillHash(text: string): string {
  return bytesToHex(sha256(utf8ToBytes(text))).slice(0, 16);
}

/**
 * Text from outside, set apart as data. The tag carries a hash that does not occur in what it holds, so that
 * nothing inside can close the fence and pass for an instruction.
 */
export function fence(kind: string, text: string): string {
  let nonce = toNonce(text);
  while (text.includes(nonce)) nonce = toNonce(`${nonce}${text}`);
  const tag = `${kind}-${nonce}`;
  return `<${tag}>\n${text}\n</${tag}>`;
}

const toNonce = (text: string) => skillHash(text).slice(0, 8);
