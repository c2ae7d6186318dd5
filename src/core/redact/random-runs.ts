import { isPlaceholder, SECRET } from './secret-value.ts';

/** A run of the letters of base64, as far as it goes. */
const RUN = /(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/_-]{28,}={0,2}(?![A-Za-z0-9+/=_-])/g;
/** What stands before a run that is public: a checksum, an image, a public key, the end of an address. */
const PUBLIC_LEAD =
  /(?:sha\d{1,3}[-:=]|md5[-:=]|\bh1:|base64,|(?:hash|checksum|digest|sum|etag|public_?key)\W{1,6}(?:\w{1,4}[-/]\W{0,2})?|ssh-[\w-]{2,20}[ \t]+|ecdsa-[\w-]{2,30}[ \t]+|integrity\W{1,6}|mappings\W{1,6}|fingerprint\W{1,6}|https?:\/\/[^\s"'<>]{0,300}|[./@#?&%~]|-----(?:\r?\n){1,2}|(?<=[A-Za-z0-9+/]{60})\r?\n)$/i;

/** Runs that say themselves that they are public: a checksum, a path, an id with the kind of thing before it. */
const PUBLIC = /^(?:sha\d{1,3}-|md5-|\/|[a-z]{2,12}[_-])/;
/** An object in base64 that stands alone is what a service gave to be given back. */
const ENCODED_JSON = /^eyJ.{60}/;

/** The longest a key is; an image is longer. */
const LONGEST = 120;

/** Long words of letters and digits in a disorder that no language and no hash has. */
export function hideRandomRuns(text: string): string {
  return text.replace(RUN, (found, start: number) => {
    const escaped = text[start - 1] === '\\' && /^[nrt]/.test(found) ? 1 : 0; // the letter of a `\n`
    const [run, at] = [found.slice(escaped), start + escaped];
    const isToken = ENCODED_JSON.test(run) || (run.length <= LONGEST && !PUBLIC.test(run) && isRandom(run));
    if (!isToken || isPlaceholder(run)) return found;
    return PUBLIC_LEAD.test(text.slice(Math.max(0, at - 320), at)) ? found : found.slice(0, escaped) + SECRET;
  });
}

/** Small and capital letters and digits, changing as often as in dice: names and words change far less. */
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
