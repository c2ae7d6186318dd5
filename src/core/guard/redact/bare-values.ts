import { isPlaceholder, isSecretValue, looksRandom, SECRET } from './secret-value.ts';

/** An address with something before its host. A password may hold any sign, so the last `@` counts. */
const ADDRESS =
  /(:(?:\\?\/){2})((?:(?!:\\?\/\\?\/)[^\s"'`<>\\@]){0,300}(?:@(?:(?!:\\?\/\\?\/)[^\s"'`<>\\@]){0,300}){0,6})@(?=[A-Za-z0-9[$%_{-])/g;

/** Addresses that are secrets themselves. */
const HOOKS =
  /((?:hooks\.slack(?:-gov)?\.com\/(?:services|workflows|triggers)|(?:discord|discordapp)\.com\/api\/(?:v\d+\/)?webhooks\/\d+|\.webhook\.office\.com\/webhookb2|outlook\.office\.com\/webhook|hooks\.zapier\.com\/hooks\/catch|open\.(?:feishu\.cn|larksuite\.com)\/open-apis\/bot\/v2\/hook|api\.telegram\.org\/bot|\/hooks(?=\/)|hc-ping\.com|maker\.ifttt\.com\/(?:trigger\/\w{1,60}\/(?:json\/)?)?with\/key|events\.pagerduty\.com\/integration)\/?)([\w/:%@.-]{16,})/g;

const HOOK_WORDS = ['hook', 'telegram', 'hc-ping', 'ifttt', 'pagerduty'];

/** Parts of a query that grant access. */
const SIGNED =
  /((?:[?&;]|%3F|%26|\\u0026)(?:sig|signature|x-amz-signature|x-amz-security-token|x-amz-credential|x-goog-signature|access_token|token|key|api_?key|auth|code|secret|password|pwd|jwt|sid|st|private_token|client_secret|id_token|refresh_token|ticket|hdnts|policy|x-oss-signature|ossaccesskeyid|apikey|appid|subscription-key)(?:=|%3D))([^\s&"'`<>\\#;]{6,})/gi;

/** Hides credentials in addresses: before the host, in the path of a hook, and in the query. */
export function hideAddressCredentials(text: string): string {
  const hideHook = (whole: string, place: string, key: string) =>
    isPlaceholder(key) || key.includes(SECRET) ? whole : `${place}${SECRET}`;
  const hooked = HOOK_WORDS.some((word) => text.includes(word)) ? text.replace(HOOKS, hideHook) : text;
  return hooked
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

/** A card number, in groups or without, of one of the great networks. */
const CARD =
  /(?<![\w.:/-])(?:3[04678]|4\d|5[1-5]|6[0245]|2[2-7])\d{2}(?:[ -]?\d{4}[ -]?\d{4}[ -]?\d{4}(?:[ -]?\d{3})?|[ -]?\d{6}[ -]?\d{4,5})(?![\w-]|\.\d)/g;
const IBAN = /(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![A-Za-z0-9])/g;

/** Hides numbers of cards and accounts, known by their check digits. */
export function hidePaymentNumbers(text: string): string {
  return text
    .replace(CARD, (found) => (hasLuhn(found.replace(/[ -]/g, '')) ? SECRET : found))
    .replace(IBAN, (found) => (hasMod97(found.replaceAll(' ', '')) ? SECRET : found));
}

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

/** Hides long words of letters and digits in a disorder that no language and no hash has. */
export function hideRandomRuns(text: string): string {
  return text.replace(RUN, (found, start: number) => {
    const escaped = text[start - 1] === '\\' && /^[nrt]/.test(found) ? 1 : 0; // the letter of a `\n`
    const [run, at] = [found.slice(escaped), start + escaped];
    const isToken = ENCODED_JSON.test(run) || (run.length <= LONGEST && !PUBLIC.test(run) && isRandom(run));
    if (!isToken || isPlaceholder(run)) return found;
    return PUBLIC_LEAD.test(text.slice(Math.max(0, at - 320), at)) ? found : found.slice(0, escaped) + SECRET;
  });
}

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
