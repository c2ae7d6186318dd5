import { LETTER } from '../../core/guard/index.ts';

/** A word, with what joins several of them to one. */
const WORD = new RegExp(`[${LETTER}]{1,128}(?:[.-][${LETTER}]{1,128}){0,8}`, 'g');

/** The text without the given names where they stand as words of their own. */
export function hideNames(text: string, names: ReadonlyMap<string, string>): string {
  const low = text.toLowerCase();
  if (![...names.keys()].some((name) => low.includes(name))) return text;
  const ofMany = [...names].filter(([name]) => /\s/.test(name)).slice(0, 10);
  const whole = ofMany.reduce((shown, [name, mark]) => shown.replaceAll(name, mark), text);
  return whole.replace(WORD, (word) => names.get(word.toLowerCase()) ?? hideParts(word, names));
}

const hideParts = (word: string, names: ReadonlyMap<string, string>) =>
  /[._-]/.test(word) ? word.replace(/[^._-]+/g, (part) => names.get(part.toLowerCase()) ?? part) : word;

/** From the `@` on; what stands before it is read backwards, so that only few places are looked at. */
const DOMAIN = new RegExp(
  String.raw`(?:[@＠﹫]|%40|\\u0040|&#64;| ?[[({](?:at|AT)[\])}] ?)((?:[${LETTER}](?:[${LETTER}-]{0,62}[${LETTER}])?(?:[.．。]| ?[[({](?:dot|DOT)[\])}] ?)){1,5}[A-Za-z\u00c0-\u1fff\u3040-\u9fff]{2,24})(?![${LETTER}]|\.[A-Za-z]|:[\w~/]|/\w)`,
  'g',
);
const LOCAL = new RegExp(`(?<![${LETTER}.%+/@-])[${LETTER}][${LETTER}.+'’-]{0,63}$`);
/** Addresses of services, and of examples, which nobody has. */
const ROLE =
  /^(?:git|hg|svn|noreply|no-reply|donotreply|do-not-reply|actions?|notifications?|root|admin|postmaster|support|info|hello|contact|security|help|user|username|you|your|your[._-]?(?:name|email)|name|email|me|someone|foo|bar|test|example)$/i;
const NO_DOMAIN =
  /(?:^|\.)example\.(?:com|org|net)$|\.(?:localhost|png|jpe?g|gif|svg|webp|js|mjs|ts|css|json|html?|service|socket|timer|tgz|gz|zip|md|py|rb|go|rs)$/i;

/** The text with `[email]` for addresses of people. */
export function hideEmails(text: string): string {
  const pieces: string[] = [];
  let done = 0;
  for (const { index, 0: found, 1: domain } of text.matchAll(DOMAIN)) {
    const local = LOCAL.exec(text.slice(Math.max(done, index - 65), index))?.[0];
    if (local === undefined || ROLE.test(local) || NO_DOMAIN.test(domain!)) continue;
    pieces.push(text.slice(done, index - local.length), '[email]');
    done = index + found.length;
  }
  return done === 0 ? text : pieces.join('') + text.slice(done);
}
