import { isPlaceholder, isSecretValue, looksRandom, SECRET } from './secret-value.ts';

/** An address with something before its host. A password may hold every sign, also `@` and `/`; the last `@` counts. */
const ADDRESS =
  /(:(?:\\?\/){2})((?:(?!:\\?\/\\?\/)[^\s"'`<>\\@]){0,300}(?:@(?:(?!:\\?\/\\?\/)[^\s"'`<>\\@]){0,300}){0,6})@(?=[A-Za-z0-9[$%_{-])/g;

/** Places at which whoever knows the address may write. */
const HOOKS =
  /((?:hooks\.slack(?:-gov)?\.com\/(?:services|workflows|triggers)|(?:discord|discordapp)\.com\/api\/(?:v\d+\/)?webhooks\/\d+|\.webhook\.office\.com\/webhookb2|outlook\.office\.com\/webhook|hooks\.zapier\.com\/hooks\/catch|open\.(?:feishu\.cn|larksuite\.com)\/open-apis\/bot\/v2\/hook|api\.telegram\.org\/bot|\/hooks(?=\/)|hc-ping\.com|maker\.ifttt\.com\/(?:trigger\/\w{1,60}\/(?:json\/)?)?with\/key|events\.pagerduty\.com\/integration)\/?)([\w/:%@.-]{16,})/g;

const HOOK_WORDS = ['hook', 'telegram', 'hc-ping', 'ifttt', 'pagerduty'];

/** Parts of a query that open what the address points to. */
const SIGNED =
  /((?:[?&;]|%3F|%26|\\u0026)(?:sig|signature|x-amz-signature|x-amz-security-token|x-amz-credential|x-goog-signature|access_token|token|key|api_?key|auth|code|secret|password|pwd|jwt|sid|st|private_token|client_secret|id_token|refresh_token|ticket|hdnts|policy|x-oss-signature|ossaccesskeyid|apikey|appid|subscription-key)(?:=|%3D))([^\s&"'`<>\\#;]{6,})/gi;

/** Credentials in addresses: before the host, in the path of a hook, and in the query. */
export function hideAddressCredentials(text: string): string {
  const hooked = HOOK_WORDS.some((word) => text.includes(word)) ? text.replace(HOOKS, hideHook) : text;
  return hooked
    .replace(ADDRESS, (whole, scheme: string, before: string) => {
      const shown = hideUser(before);
      return shown === before ? whole : `${scheme}${shown}@`;
    })
    .replace(SIGNED, (whole, name: string, value: string) => (isOpenValue(value) ? whole : `${name}${SECRET}`));
}

const hideHook = (whole: string, place: string, key: string) =>
  isPlaceholder(key) || key.includes(SECRET) ? whole : `${place}${SECRET}`;

/** `user:password`, or a token alone. A port and a path before an `@` of the path are neither. */
function hideUser(before: string): string {
  if (before.endsWith(SECRET)) return before;
  const colon = before.indexOf(':');
  const slash = before.search(/[/?#]/);
  if (colon === -1) return slash === -1 && looksLikeToken(before) ? SECRET : before;
  const password = before.slice(colon + 1);
  if (slash !== -1 && (slash < colon || /^\d{1,5}[/?#]/.test(password))) return before;
  const isOpen = !isSecretValue(password, 'password', { isQuoted: true, isShell: true });
  if (isOpen) return before;
  return `${looksLikeToken(before.slice(0, colon)) ? SECRET : before.slice(0, colon)}:${SECRET}`;
}

const looksLikeToken = (text: string) => looksRandom(text) && !isPlaceholder(text);

const isOpenValue = (value: string) =>
  isPlaceholder(value) || !isSecretValue(value, 'key', { isQuoted: true, isShell: false }) || !/\d/.test(value);
