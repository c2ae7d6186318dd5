type Thrown = Error & {
  readonly errors?: readonly unknown[];
  readonly socket?: { readonly remoteAddress?: string; readonly remotePort?: number } | undefined;
};

/** A chain of causes may be a ring. */
const MOST_CAUSES = 4;

/** What was thrown, with its causes: `fetch failed` alone says neither what was asked nor why it failed. */
export function withCauses(thrown: unknown, most = MOST_CAUSES): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const { message, cause, errors = [], socket } = thrown as Thrown;
  const place = socket?.remoteAddress === undefined ? '' : ` (${socket.remoteAddress}:${socket.remotePort})`;
  const causes = most === 0 ? [] : [...errors, ...(cause instanceof Error ? [cause] : [])];
  const reasons = causes.map((one) => withCauses(one, most - 1)).filter((reason) => !message.includes(reason));
  return [...new Set([`${message}${place}`, ...reasons])].filter(Boolean).join(': ');
}
