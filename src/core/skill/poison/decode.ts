/** Ways in which a text is written so that a filter does not read it. Each gives back the text unchanged when there is nothing to decode. */

const NAMED: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  amp: '&',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  sol: '/',
  colon: ':',
  lpar: '(',
  rpar: ')',
  excl: '!',
  vert: '|',
  grave: '`',
  dollar: '$',
  period: '.',
  newline: '\n',
  tab: ' ',
};

export function fromEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]{2,8}));?/g, (whole, decimal, hex, name) => {
    if (name !== undefined) return NAMED[name] ?? whole;
    return toCharacter(Number.parseInt(decimal ?? hex, decimal === undefined ? 16 : 10));
  });
}

/** `\x41`, `\u0041`, `\101`, `%41`. */
export function fromEscapes(text: string): string {
  return text.replace(/(?:\\x|%)([\da-f]{2})|\\u\{?([\da-f]{4,6})\}?|\\([0-3][0-7]{2})/g, (_, byte, unit, octal) =>
    toCharacter(Number.parseInt(byte ?? unit ?? octal, octal === undefined ? 16 : 8)),
  );
}

const toCharacter = (code: number) => (code > 0 && code <= 0x10ffff ? String.fromCodePoint(code).toLowerCase() : ' ');

/** The texts in words of base64 and in rows of bytes, if they are texts. */
export function decodeBlobs(text: string): string[] {
  const base64 = [...text.matchAll(/[A-Za-z0-9+/_-]{16,}={0,2}/g)].map(([blob]) => fromBase64(blob));
  const bytes = [...text.matchAll(/(?:(?:0x|\\x)?[\da-fA-F]{2}[ ,:]{0,2}){8,}/g)].map(([blob]) => fromHex(blob));
  const numbers = [...text.matchAll(/(?:\d{2,3}[ ,]{1,2}){7,}\d{2,3}/g)].map(([row]) =>
    row.split(/[ ,]+/).map(Number).map(toCharacter).join(''),
  );
  const texts = [...base64, ...bytes, ...numbers].filter(isText);
  return texts.length === 0 ? [] : [texts.join('\n')];
}

const isText = (text: string) => text.length >= 6 && /^[\t\n\r\x20-\x7e]+$/.test(text) && /[a-z]{2}/i.test(text);

function fromBase64(blob: string): string {
  const digits = blob
    .replace(/(?<!=)=+$/, '')
    .replaceAll('-', '+')
    .replaceAll('_', '/');
  let [text, bits, held] = ['', 0, 0];
  for (const digit of digits) {
    held = ((held << 6) | DIGITS.indexOf(digit)) & 0xffffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    text += String.fromCharCode((held >> bits) & 0xff);
  }
  return text;
}
const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

function fromHex(blob: string): string {
  const digits = blob.replace(/0x|\\x|[ ,:]/g, '');
  return (digits.match(/../g) ?? []).map((pair) => String.fromCharCode(Number.parseInt(pair, 16))).join('');
}

export const rot13 = (text: string) =>
  text.replace(/[a-z]/g, (letter) => String.fromCharCode(((letter.charCodeAt(0) - 97 + 13) % 26) + 97));

const LEET: Readonly<Record<string, string>> = {
  0: 'o',
  1: 'i',
  3: 'e',
  4: 'a',
  5: 's',
  7: 't',
  8: 'b',
  $: 's',
  '@': 'a',
  '!': 'i',
};

/** Only inside words that have letters too: numbers stay numbers. */
export const unleet = (text: string) =>
  text.replace(/[a-z0-9$@!]{3,40}/g, (word) =>
    /[a-z]/.test(word) && /[0134578$@!]/.test(word) ? word.replace(/[0134578$@!]/g, (sign) => LEET[sign]!) : word,
  );

/** Letters with something between each two of them: «i g n o r e», «c.u.r.l». Wider gaps are gaps between words. */
export const unspaced = (text: string) =>
  text.replace(/(?<![\p{L}\d])\S(?:[ ._*-]{1,3}\S(?=[ ._*-]|$|\n)){4,}/gu, (row) =>
    row
      .replace(/ {2,3}/g, '\0')
      .replace(/(?<=\S)[ ._*-](?=\S)/g, '')
      .replaceAll('\0', ' '),
  );
