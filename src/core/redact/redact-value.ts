import { credentialOf } from './credential-names.ts';
import { redactSecrets } from './redact-secrets.ts';
import { SECRET } from './secret-value.ts';

/** Deeper than any record; what is deeper is not looked at and not shown. */
const DEEPEST = 200;

/**
 * A JSON value without secrets: every text of it is redacted, names too, and what stands under a name such as `apiKey` is
 * hidden whatever it is.
 */
export function redactValue(value: unknown, redact: (text: string) => string = redactSecrets, depth = 0): unknown {
  if (typeof value === 'string') return redact(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth > DEEPEST) return SECRET;
  if (Array.isArray(value)) return value.map((entry) => redactValue(entry, redact, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, entry]) => [
      redact(name),
      isCredentialName(name) ? SECRET : redactValue(entry, redact, depth + 1),
    ]),
  );
}

const isCredentialName = (name: string) => ['password', 'key'].includes(credentialOf(name) ?? '');
