/** Takes no room on a screen, and stands inside a word only to part it. */
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
/** Of full width, as in text from East Asian keyboards. Signs of that width are everywhere in it. */
const FULL_WIDTH = /[\uff10-\uff19\uff21-\uff3a\uff41-\uff5a]/g;

/** The text as it looks: `pаssword` with a Cyrillic letter, or parted by something invisible, is a word of Latin letters. */
export function undisguised(text: string): string {
  if (/^[\s -\u00ac\u00ae-\u00ff]*$/.test(text)) return text;
  return text
    .replace(INVISIBLE, '')
    .replace(FULL_WIDTH, (letter) => String.fromCharCode(letter.charCodeAt(0) - 0xfee0))
    .replace(MIXED, (word) =>
      isMixed(word) ? [...word].map((letter) => LOOKS_LIKE[letter] ?? letter).join('') : word,
    );
}

const isMixed = (word: string) => /[A-Za-z]/.test(word) && /[\u0370-\u052f]/.test(word);
