const MAX_LENGTH = 300;

/** Shorter values, such as the `none` that local servers want for a key, are no secrets but parts of many words. */
const SHORTEST_SECRET = 4;

const KEY_LIKE = /\b(?:sk|pk|gsk|xai|hf)[-_][\w*.-]{6,}/gi;
const TOKEN_LIKE = /\bBearer\s+[^\s"',;]+/gi;

/** What a provider said in the body of a failed call: one short line, with `secrets` and whatever looks like one masked. */
export function providerWords(body: string, secrets: readonly string[]): string {
  const masked = maskSecrets(readWords(body), secrets); // before anything is joined or cut: half a key is a secret too
  return shorten(masked.replace(/\s+/g, ' ').trim());
}

/** `text` with the given secrets and whatever looks like a key replaced by an ellipsis. */
function maskSecrets(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret.length >= SHORTEST_SECRET)
    .reduce((masked, secret) => masked.replaceAll(secret, '…'), text)
    .replace(TOKEN_LIKE, 'Bearer …')
    .replace(KEY_LIKE, '…');
}

function readWords(body: string): string {
  if (/^\s*</.test(body)) return `an HTML page "${/<title[^>]*>([^<]*)</i.exec(body)?.[1]?.trim() ?? ''}"`;
  try {
    return findMessage(JSON.parse(body)) ?? body;
  } catch {
    return body;
  }
}

/** Providers agree on little: `error.message`, `error`, `message`, `detail` and lists of `msg` are all in use. */
function findMessage(value: unknown): string | undefined {
  if (typeof value === 'string') return value || undefined;
  if (Array.isArray(value)) return value.map(findMessage).filter(Boolean).join('; ') || undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  const { error, message, detail, msg } = value as Record<string, unknown>;
  return [error, message, detail, msg].map(findMessage).find((words) => words !== undefined);
}

function shorten(text: string): string {
  return text.length <= MAX_LENGTH ? text : `${text.slice(0, MAX_LENGTH - 1)}…`;
}
