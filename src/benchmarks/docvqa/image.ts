import { createHash } from 'node:crypto';
import type { DataFiles } from '../data/data-files.ts';

/** What providers take. Nothing is made smaller here: which pixels a model sees would depend on us. */
const MOST_BYTES = 5_000_000;
const LONGEST_NAME = 1_000;

/** The formats that models read, each by the bytes that its files begin with, in hexadecimal. */
const FORMATS = [
  { mediaType: 'image/png', ending: 'png', begins: /^89504e470d0a1a0a/ },
  { mediaType: 'image/jpeg', ending: 'jpg', begins: /^ffd8ff/ },
  { mediaType: 'image/webp', ending: 'webp', begins: /^52494646.{8}57454250/ },
  { mediaType: 'image/gif', ending: 'gif', begins: /^474946383[79]61/ },
] as const;

/** Others that pages of documents come in. */
const REFUSED: readonly (readonly [name: string, begins: RegExp])[] = [
  ['a TIFF image', /^(?:49492a00|4d4d002a)/],
  ['a BMP image', /^424d/],
  ['a PDF', /^25504446/],
];

export type PageImage = {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
  readonly ending: string;
  readonly sha256: string;
};

/** Throws an Error that says what is wrong with the file. */
export async function readImage(files: DataFiles, name: string): Promise<PageImage> {
  if (name.length > LONGEST_NAME) throw new Error(`the name of the image has ${name.length} characters`);
  return toImage(await files.bytes(name, MOST_BYTES), `the image ${name}`);
}

/** The bytes as an image. `what` is their name in errors. */
export function toImage(bytes: Uint8Array, what: string): PageImage {
  if (bytes.length > MOST_BYTES) throw new Error(`${what} has ${bytes.length} bytes, more than ${MOST_BYTES}`);
  const beginning = Buffer.from(bytes.subarray(0, 12)).toString('hex');
  const format = FORMATS.find(({ begins }) => begins.test(beginning));
  if (format === undefined) {
    const [other] = REFUSED.find(([, begins]) => begins.test(beginning)) ?? ['something else'];
    throw new Error(`${what} must be PNG, JPEG, WebP or GIF, which models read, and is ${other}: convert it`);
  }
  const { mediaType, ending } = format;
  return { bytes, mediaType, ending, sha256: createHash('sha256').update(bytes).digest('hex') };
}
