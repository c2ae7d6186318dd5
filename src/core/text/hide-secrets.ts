import { isKnownKey } from '../redact/known-keys.ts';
import { skillHash } from '../skill/skill-hash.ts';

/** Names of what opens a door and changes no result. */
const CREDENTIAL =
  /(?:^|[-_.])(?:(?:api|access|secret|private|subscription|auth|client|session|bearer|refresh|id)[-_]?(?:key|token|secret)|secret|password|passwd|authorization|cookie|credentials?)$/i;
/** Names that may be of such a thing, or of something else: a sort key, a stop token. */
const PERHAPS = /(?:^|[-_.])(?:key|token)$/i;

/** What stands in a header. */
const BEARER = /^(?:Bearer|Basic)\s\S+$/;
/** Long, without a space, of letters and digits in disorder. */
const RANDOM = /^(?=[^\s]*\d)(?=[^\s]*[a-z])[\w+/=~-]{32,}$/i;

/** What is hidden stays as it is. */
const HIDDEN = /^\((?:secret|hidden [0-9a-f]{12})\)$/;

/**
 * A value as it may be written down: without what looks like a secret, by its name or by itself. A credential becomes a
 * constant, since another one gives the same results; what is only perhaps a secret becomes a hash, since it may not.
 */
export function hideSecrets(value: unknown, name = ''): unknown {
  if (typeof value === 'string') return hideText(value, snake(name));
  if (Array.isArray(value)) return value.map((entry) => hideSecrets(entry, name));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, hideSecrets(entry, key)]));
}

function hideText(text: string, name: string): string {
  if (text === '' || HIDDEN.test(text)) return text;
  if (CREDENTIAL.test(name) || BEARER.test(text) || isKnownKey(text)) return '(secret)';
  return PERHAPS.test(name) || RANDOM.test(text) ? `(hidden ${skillHash(text).slice(0, 12)})` : text;
}

const snake = (name: string) => name.replace(/(?<=[a-z0-9])(?=[A-Z])/g, '_');
