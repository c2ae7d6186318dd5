/** Shorter values, such as the `none` that local servers want for a key, are no secrets but parts of many words. */
const SHORTEST_SECRET = 8;
const MASK = '***';

export interface ByteMask {
  /** What may pass of `chunk` now. What could be the beginning of a secret waits for the next. */
  add(chunk: Uint8Array): Buffer;
  /** What still waits. */
  end(): Buffer;
}

/** Bytes as they pass, with `secrets` masked, also where one is torn over two chunks. */
export function maskBytes(secrets: readonly string[]): ByteMask {
  // One character for a byte, so that no chunk is torn in the midst of one.
  const masked = secrets
    .filter((secret) => secret.length >= SHORTEST_SECRET)
    .map((secret) => Buffer.from(secret).toString('latin1'));
  let waiting = '';
  return {
    add(chunk) {
      const text = masked.reduce(
        (all, secret) => all.replaceAll(secret, MASK),
        waiting + Buffer.from(chunk).toString('latin1'),
      );
      const held = Math.max(0, ...masked.map((secret) => heldBack(text, secret)));
      waiting = text.slice(text.length - held);
      return Buffer.from(text.slice(0, text.length - held), 'latin1');
    },
    end() {
      const rest = Buffer.from(waiting, 'latin1');
      waiting = '';
      return rest;
    },
  };
}

/** How many characters at the end of `text` are the beginning of `secret`. */
function heldBack(text: string, secret: string): number {
  const most = Math.min(secret.length - 1, text.length);
  for (let length = most; length > 0; length--) if (text.endsWith(secret.slice(0, length))) return length;
  return 0;
}

export function maskText(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret.length >= SHORTEST_SECRET)
    .reduce((all, secret) => all.replaceAll(secret, MASK), text);
}
