/** A text, and the encoding that it was in if that is not UTF-8; or why the bytes are no text. */
export type Decoded = { readonly text: string; readonly encoding?: string } | { readonly problem: string };

/** What files are that somebody renamed, by their first bytes. UTF-32 begins as UTF-16 does, so it stands here. */
const SIGNATURES: readonly (readonly [bytes: readonly number[], what: string])[] = [
  [[0x50, 0x4b, 0x03, 0x04], 'a zip archive, as an Excel workbook is'],
  [[0xd0, 0xcf, 0x11, 0xe0], 'an old Excel or Word file'],
  [[0x89, 0x50, 0x4e, 0x47], 'a PNG picture'],
  [[0xff, 0xd8, 0xff], 'a JPEG picture'],
  [[0x25, 0x50, 0x44, 0x46], 'a PDF'],
  [[0x1f, 0x8b], 'packed with gzip'],
  [[0xff, 0xfe, 0x00, 0x00], 'UTF-32'],
  [[0x00, 0x00, 0xfe, 0xff], 'UTF-32'],
];

/**
 * Bytes as text: by their byte order mark, else as UTF-8, as UTF-16 if NULs show it, or as Windows-1252 if that gives words. Other
 * encodings are no text here: a guess would be other questions and other answers.
 */
export function decodeText(bytes: Uint8Array): Decoded {
  const begins = (mark: readonly number[]) => mark.every((byte, index) => bytes[index] === byte);
  const known = SIGNATURES.find(([mark]) => begins(mark));
  if (known) return { problem: `it is ${known[1]}, and no text in UTF-8` };
  const wide = begins([0xff, 0xfe]) ? 'UTF-16LE' : begins([0xfe, 0xff]) ? 'UTF-16BE' : wideByNuls(bytes);
  if (wide) return readAs(wide, bytes) ?? { problem: `it looks like ${wide}, and cannot be read as that` };
  const nul = bytes.indexOf(0);
  if (nul !== -1) return { problem: `line ${lineAt(bytes, nul)} has a NUL byte, so it is no text` };
  const text = readAs('UTF-8', bytes);
  return text ? { text: text.text } : readWestern(bytes);
}

/** Without the byte order mark. `undefined` if the bytes are something else. */
function readAs(encoding: string, bytes: Uint8Array) {
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(bytes);
    return text.includes('\0') ? undefined : { text, encoding };
  } catch {
    return undefined;
  }
}

/** In UTF-16 every ASCII character has a NUL on the same side; hardly any other character has one. */
function wideByNuls(bytes: Uint8Array): string | undefined {
  const counts = [0, 0];
  for (let at = bytes.indexOf(0); at !== -1; at = bytes.indexOf(0, at + 1)) counts[at % 2]!++;
  const [even = 0, odd = 0] = counts;
  const [few, many] = even < odd ? [even, odd] : [odd, even];
  if (bytes.length % 2 === 1 || many < bytes.length / 20 || few > many / 10) return undefined;
  return even > odd ? 'UTF-16BE' : 'UTF-16LE';
}

function lineAt(bytes: Uint8Array, place: number): number {
  let line = 1;
  for (let at = bytes.indexOf(10); at !== -1 && at < place; at = bytes.indexOf(10, at + 1)) line++;
  return line;
}

/** Bytes that are no UTF-8. Where some of them are, two encodings were mixed or the end is missing. */
function readWestern(bytes: Uint8Array): Decoded {
  const asUtf8 = new TextDecoder('utf-8').decode(bytes); // with U+FFFD for what is none
  if (/[^\0-\x7f\ufffd]/.test(asUtf8)) {
    const line = asUtf8.slice(0, asUtf8.indexOf('\ufffd')).split('\n').length;
    return { problem: `line ${line} is no UTF-8, and others are: two encodings were mixed, or the end is missing` };
  }
  // Not by TextDecoder: that of Node 20 takes the name for Latin-1.
  const text = Buffer.from(bytes)
    .toString('latin1')
    .replace(/[\x80-\x9f]/g, (one) => SPECIAL[one.charCodeAt(0) - 0x80]!);
  if (isWestern(text)) return { text, encoding: 'Windows-1252' };
  return { problem: 'it is neither UTF-8 nor UTF-16, and as Windows-1252 it gives no words' };
}

/** Windows-1252 from 0x80 to 0x9f. Five of these are nothing. */
const SPECIAL = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';

/** Letters in Western texts are mostly plain. */
const MOST_ACCENTED = 0.3;
/** In the middle of a word: a sign, or a capital after a small letter. Other encodings read as this one are full of them. */
const ODD = /[a-z](?:[\u0080-\u00b6\u00b8-\u00bf\u00d7\u00f7€‚ƒ„…†‡ˆ‰‹•˜™›]|[ŠŒŽŸÀ-ÖØ-Þ])(?=[a-z])/gu;
const MOST_ODD = 0.05;

function isWestern(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what no text has
  if (/[\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/.test(text)) return false;
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  const accented = text.match(/[^\0-\x7f]/g)?.length ?? 0;
  const odd = text.match(ODD)?.length ?? 0;
  return accented <= MOST_ACCENTED * letters && odd <= MOST_ODD * accented;
}
