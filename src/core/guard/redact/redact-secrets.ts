import { memoize } from '../../text/index.ts';
import { credentialOf } from './credential-names.ts';
import { commands, headers } from './headers.ts';
import { heardValues } from './heard-values.ts';
import { brokenKeys, keyBlocks, knownKeys } from './known-keys.ts';
import { namedValues, spokenValues, tableCells } from './named-values.ts';
import { longWords, type Rule } from './rule.ts';
import { isPlaceholder, isSecretValue, looksRandom, SECRET } from './secret-value.ts';

const MOST_PASSES = 5;

/**
 * The text with `[secret]` in place of credentials: keys by their form, values by their names, spoken passwords, random words,
 * numbers of cards and accounts. It takes time in proportion to the text, and changes nothing when it is called again.
 */
export const redactSecrets = (text: string): string => (text.length > LONGEST_KEPT ? hide(text) : hideOnce(text));

const LONGEST_KEPT = 200;
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
  let shown = text;
  for (let pass = 0; pass < MOST_PASSES; pass++) {
    const next = RULES.reduce((before, { may, hide }) => (may(before) ? hide(before) : before), shown);
    if (next === shown) return shown;
    shown = next;
  }
  return shown;
}

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

/** A name with a mark in it ends with «secret» and says nothing: otherwise a second call would hide more. */
const isCredentialName = (name: string) =>
  !name.includes(SECRET) && ['password', 'key'].includes(credentialOf(name) ?? '');

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
  if (!text.includes('\u00ad') && !/[\u0100-\uffff]/.test(text)) return text;
  return text
    .replace(INVISIBLE, '')
    .replace(FULL_WIDTH, (letter) => String.fromCharCode(letter.charCodeAt(0) - 0xfee0))
    .replace(MIXED, (word) =>
      isMixed(word) ? [...word].map((letter) => LOOKS_LIKE[letter] ?? letter).join('') : word,
    );
}

const isMixed = (word: string) => /[A-Za-z]/.test(word) && /[\u0370-\u052f]/.test(word);

/** An address with something before its host. A password may hold any sign, so the last `@` counts. */
const ADDRESS =
  /(:(?:\\?\/){2})((?:(?!:\\?\/\\?\/)[^\s"'`<>\\@]){0,300}(?:@(?:(?!:\\?\/\\?\/)[^\s"'`<>\\@]){0,300}){0,6})@(?=[A-Za-z0-9[$%_{-])/g;

const HOOKS =
  /((?:hooks\.slack(?:-gov)?\.com\/(?:services|workflows|triggers)|(?:discord|discordapp)\.com\/api\/(?:v\d+\/)?webhooks\/\d+|\.webhook\.office\.com\/webhookb2|outlook\.office\.com\/webhook|hooks\.zapier\.com\/hooks\/catch|open\.(?:feishu\.cn|larksuite\.com)\/open-apis\/bot\/v2\/hook|api\.telegram\.org\/bot|\/hooks(?=\/)|hc-ping\.com|maker\.ifttt\.com\/(?:trigger\/\w{1,60}\/(?:json\/)?)?with\/key|events\.pagerduty\.com\/integration)\/?)([\w/:%@.-]{16,})/g;

const HOOK_WORDS = ['/hook', 'hooks.', 'webhook', 'telegram', 'hc-ping', 'ifttt', 'pagerduty'];

const SIGNED =
  /((?:[?&;]|%3F|%26|\\u0026)(?:sig|signature|x-amz-signature|x-amz-security-token|x-amz-credential|x-goog-signature|access_token|token|key|api_?key|auth|code|secret|password|pwd|jwt|sid|st|private_token|client_secret|id_token|refresh_token|ticket|hdnts|policy|x-oss-signature|ossaccesskeyid|apikey|appid|subscription-key)(?:=|%3D))([^\s&"'`<>\\#;]{6,})/gi;

const MAY_BE_SIGNED = /(?:=|%3d)(?<=(?:[?&;]|%3f|%26|0026)[\w-]{2,24}(?:=|%3d))[^\s&"'`<>\\#;]{6}/i;

const addressCredentials: Rule = {
  may: (text) =>
    (text.includes('@') && /:\\?\//.test(text)) ||
    ((text.includes('=') || text.includes('%')) && MAY_BE_SIGNED.test(text)) ||
    longWords(text).some((long) => HOOK_WORDS.some((word) => long.includes(word))),
  hide: hideAddressCredentials,
};

function hideAddressCredentials(text: string): string {
  const hideHook = (whole: string, place: string, key: string) =>
    isPlaceholder(key) || key.includes(SECRET) ? whole : `${place}${SECRET}`;
  return text
    .replace(HOOKS, hideHook)
    .replace(ADDRESS, (whole, scheme: string, before: string) => {
      const shown = hideUser(before);
      return shown === before ? whole : `${scheme}${shown}@`;
    })
    .replace(SIGNED, (whole, name: string, value: string) => (isOpenValue(value) ? whole : `${name}${SECRET}`));
}

/** `user:password`, or a token alone. A port and a path before an `@` of the path are neither. */
function hideUser(before: string): string {
  if (before.endsWith(SECRET)) return before;
  const colon = before.indexOf(':');
  const slash = before.search(/[/?#]/);
  if (colon === -1) return slash === -1 && looksLikeToken(before) ? SECRET : before;
  const password = before.slice(colon + 1);
  if (slash !== -1 && (slash < colon || /^\d{1,5}[/?#]/.test(password))) return before;
  if (!isSecretValue(password, 'password', { isQuoted: true, isShell: true })) return before;
  return `${looksLikeToken(before.slice(0, colon)) ? SECRET : before.slice(0, colon)}:${SECRET}`;
}

const looksLikeToken = (text: string) => looksRandom(text) && !isPlaceholder(text);

const isOpenValue = (value: string) =>
  isPlaceholder(value) || !isSecretValue(value, 'key', { isQuoted: true, isShell: false }) || !/\d/.test(value);

const CARD =
  /(?<![\w.:/-])(?:3[04678]|4\d|5[1-5]|6[0245]|2[2-7])\d{2}(?:[ -]?\d{4}[ -]?\d{4}[ -]?\d{4}(?:[ -]?\d{3})?|[ -]?\d{6}[ -]?\d{4,5})(?![\w-]|\.\d)/g;
const IBAN = /(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![A-Za-z0-9])/g;

const paymentNumbers: Rule = {
  may: (text) => /\d\d/.test(text),
  hide: (text) =>
    text
      .replace(CARD, (found) => (hasLuhn(found.replace(/[ -]/g, '')) ? SECRET : found))
      .replace(IBAN, (found) => (hasMod97(found.replaceAll(' ', '')) ? SECRET : found)),
};

function hasLuhn(digits: string): boolean {
  const sum = [...digits].reverse().reduce((total, digit, at) => {
    const value = Number(digit) * (at % 2 === 1 ? 2 : 1);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0 && new Set(digits).size > 1;
}

/** The check of an IBAN: letters count from 10 on, and the first four places come last. */
function hasMod97(account: string): boolean {
  if (account.length < 15 || account.length > 34) return false;
  const digits = (account.slice(4) + account.slice(0, 4)).replace(/[A-Z]/g, (letter) =>
    String(letter.charCodeAt(0) - 55),
  );
  return [...digits].reduce((rest, digit) => (rest * 10 + Number(digit)) % 97, 0) === 1;
}

const RUN = /(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/_-]{28,}={0,2}(?![A-Za-z0-9+/=_-])/g;
/** What stands before a public run: a checksum, an image, a public key, the end of an address. */
const PUBLIC_LEAD =
  /(?:sha\d{1,3}[-:=]|md5[-:=]|\bh1:|base64,|(?:hash|checksum|digest|sum|etag|public_?key)\W{1,6}(?:\w{1,4}[-/]\W{0,2})?|ssh-[\w-]{2,20}[ \t]+|ecdsa-[\w-]{2,30}[ \t]+|integrity\W{1,6}|mappings\W{1,6}|fingerprint\W{1,6}|https?:\/\/[^\s"'<>]{0,300}|[./@#?&%~]|-----(?:\r?\n){1,2}|(?<=[A-Za-z0-9+/]{60})\r?\n)$/i;

/** Runs that are public: a checksum, a path, an id with its kind before it. */
const PUBLIC = /^(?:sha\d{1,3}-|md5-|\/|[a-z]{2,12}[_-])/;
/** An object in base64 that stands alone is a token. */
const ENCODED_JSON = /^eyJ.{60}/;

const LONGEST = 120; // an image is longer

const MAY_BE_RANDOM = /[A-Za-z0-9+/_-]{28}/;

/** Long words of letters and digits in a disorder that no language and no hash has. */
const randomRuns: Rule = {
  may: (text) => longWords(text).some((word) => MAY_BE_RANDOM.test(word)),
  hide: (text) =>
    text.replace(RUN, (found, start: number) => {
      const escaped = text[start - 1] === '\\' && /^[nrt]/.test(found) ? 1 : 0; // the letter of a `\n`
      const [run, at] = [found.slice(escaped), start + escaped];
      const isToken = ENCODED_JSON.test(run) || (run.length <= LONGEST && !PUBLIC.test(run) && isRandom(run));
      if (!isToken || isPlaceholder(run)) return found;
      return PUBLIC_LEAD.test(text.slice(Math.max(0, at - 320), at)) ? found : found.slice(0, escaped) + SECRET;
    }),
};

/** Small and capital letters and digits change as often as in dice; in names and words they change far less. */
function isRandom(run: string): boolean {
  const changes = run.match(/[a-z](?=[A-Z0-9])|[A-Z](?=[a-z0-9])|[0-9](?=[A-Za-z])/g)?.length ?? 0;
  const letters = run.replace(/[^A-Za-z0-9]/g, '');
  const isMixed = /[a-z]/.test(letters) && /[A-Z]/.test(letters) && (letters.match(/\d/g)?.length ?? 0) >= 3;
  return (
    isMixed &&
    changes >= letters.length * 0.42 &&
    !/AAAA|^(?:MII|AAAA[BCE]|eyJ)/.test(run) &&
    new Set(letters).size >= 16
  );
}

/** From certain to likely: a later rule leaves alone what an earlier one hid. */
export const RULES: readonly Rule[] = [
  keyBlocks,
  addressCredentials,
  brokenKeys,
  knownKeys,
  tableCells, // before what follows a name is taken for its value: below the head stands another
  headers,
  namedValues,
  commands,
  spokenValues,
  heardValues,
  randomRuns,
  paymentNumbers,
];
