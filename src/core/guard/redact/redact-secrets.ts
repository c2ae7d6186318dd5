import { memoize, skillHash } from '../../text/index.ts';
import { hideAddressCredentials, hidePaymentNumbers, hideRandomRuns } from './bare-values.ts';
import { credentialOf } from './credential-names.ts';
import { commandHider, hideHeaders } from './headers.ts';
import { hideBrokenKeys, hideKeyBlocks, isKnownKey, keyHider } from './known-keys.ts';
import { hideNamedValues, hideSpokenValues, hideTableCells } from './named-values.ts';
import { SECRET } from './secret-value.ts';

/** From certain to likely: a later rule leaves alone what an earlier one hid. */
const rulesFor = (text: string) => [
  hideKeyBlocks,
  hideAddressCredentials,
  hideBrokenKeys,
  keyHider(text),
  hideTableCells, // before what follows a name is taken for its value: below the head stands another
  hideHeaders,
  hideNamedValues,
  commandHider(text),
  hideSpokenValues,
  hideRandomRuns,
  hidePaymentNumbers,
];

/** A mark may uncover another secret, seldom twice. */
const MOST_PASSES = 5;

/**
 * The text with `[secret]` in place of credentials: keys by their form, values by their names, spoken passwords, random words,
 * numbers of cards and accounts. It takes time in proportion to the text, and changes nothing when it is called again.
 */
export const redactSecrets = (text: string): string => (text.length > LONGEST_KEPT ? hide(text) : hideOnce(text));

const LONGEST_KEPT = 1_000;
const hideOnce = memoize(hide, { maxEntries: 4_000 }); // names, ids and short answers come again and again

function hide(text: string): string {
  const shown = redactPlain(text);
  const looks = undisguised(text);
  if (looks === text) return shown;
  const revealed = redactPlain(looks); // Letters in disguise are kept as they are, unless they hide something.
  return revealed === looks || count(revealed) <= count(shown) ? shown : revealed;
}

const count = (text: string) => text.split(SECRET).length;

function redactPlain(text: string): string {
  const rules = rulesFor(text);
  let shown = text;
  for (let pass = 0; pass < MOST_PASSES; pass++) {
    const next = rules.reduce((before, rule) => rule(before), shown);
    if (next === shown) return shown;
    shown = next;
  }
  return shown;
}

/** What is nested deeper than any record is hidden. */
const DEEPEST = 200;

/** A JSON value without secrets. Names are redacted too, and the value of a name such as `apiKey` is always hidden. */
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

/** Characters that take no room on a screen. */
const INVISIBLE =
  /\u034f|[\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u206a-\u206f\ufeff]/g;

/** Letters of Cyrillic and Greek that look like Latin ones. */
const LOOKS_LIKE: Readonly<Record<string, string>> = Object.fromEntries(
  [
    ['аАеЕоОрРсСхХуУкКМмНТтВіІјЈѕЅԁԛԝ', 'aAeEoOpPcCxXyYkKMmHTtBiIjJsSdqw'],
    ['αΑοΟρΡνΝτΤιΙκΚεΕχΧ', 'aAoOpPvNtTiIkKeExX'],
  ].flatMap(([from, to]) => [...from!].map((letter, at) => [letter, [...to!][at]!] as const)),
);
const MIXED = /[A-Za-z\u0370-\u03ff\u0400-\u052f]{3,64}/g;
/** Letters and digits of full width, from East Asian keyboards. */
const FULL_WIDTH = /[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a]/g;

/** The text as it looks: `pаssword` with a Cyrillic letter, or parted by something invisible, is a Latin word. */
function undisguised(text: string): string {
  if (/^[\s -\u00ac\u00ae-\u00ff]*$/.test(text)) return text;
  return text
    .replace(INVISIBLE, '')
    .replace(FULL_WIDTH, (letter) => String.fromCharCode(letter.charCodeAt(0) - 0xfee0))
    .replace(MIXED, (word) =>
      isMixed(word) ? [...word].map((letter) => LOOKS_LIKE[letter] ?? letter).join('') : word,
    );
}

const isMixed = (word: string) => /[A-Za-z]/.test(word) && /[\u0370-\u052f]/.test(word);

/** Names of credentials, which change no result. */
const CREDENTIAL =
  /(?:^|[-_.])(?:(?:api|access|secret|private|subscription|auth|client|session|bearer|refresh|id)[-_]?(?:key|token|secret)|secret|password|passwd|authorization|cookie|credentials?)$/i;
/** Names that may mean a credential or something else: a sort key, a stop token. */
const PERHAPS = /(?:^|[-_.])(?:key|token)$/i;

const BEARER = /^(?:Bearer|Basic)\s\S+$/;
const RANDOM = /^(?=[^\s]*\d)(?=[^\s]*[a-z])[\w+/=~-]{32,}$/i;

const ALREADY_HIDDEN = /^\((?:secret|hidden [0-9a-f]{12})\)$/;

/**
 * A value without what looks like a secret, by its name or by itself. A credential becomes a constant, since another one gives
 * the same results. What is only perhaps a secret becomes a hash, since another one may not.
 */
export function hideSecrets(value: unknown, name = ''): unknown {
  if (typeof value === 'string') return hideText(value, snake(name));
  if (Array.isArray(value)) return value.map((entry) => hideSecrets(entry, name));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, hideSecrets(entry, key)]));
}

function hideText(text: string, name: string): string {
  if (text === '' || ALREADY_HIDDEN.test(text)) return text;
  if (CREDENTIAL.test(name) || BEARER.test(text) || isKnownKey(text)) return '(secret)';
  return PERHAPS.test(name) || RANDOM.test(text) ? `(hidden ${skillHash(text).slice(0, 12)})` : text;
}

const snake = (name: string) => name.replace(/(?<=[a-z0-9])(?=[A-Z])/g, '_');
