import { realpath } from 'node:fs/promises';
import { basename, isAbsolute, relative, sep } from 'node:path';
import { defined, isObject, strip, textOf } from '../../core/text/index.ts';
import { cellsOf, type Row } from '../../imports/index.ts';
import type { RowReader } from '../benchmark.ts';
import type { DataFiles } from '../data/data-files.ts';
import { answersInCell, filled, goldTexts } from './golds.ts';
import { readImage, toImage } from './image.ts';
import { isPackedImage } from './packed-rows.ts';

type Fields = Readonly<Record<string, unknown>>;

const PATH_MARK = 'document_path:';

/**
 * The fields of an item in a row of SkillOpt's CSV files, of lmms-lab's Parquet files, or as it was pulled. The image is looked at
 * here: an item that nobody could answer is refused before a run.
 */
export async function readRow({ value }: Row, reader: RowReader): Promise<unknown> {
  if (!isObject(value)) return value;
  const [question, documentPath] = splitQuestion(textOf(value.question ?? ''));
  const name = firstOf(value, 'image_path') ?? documentPath;
  return defined({
    id: firstOf(value, 'questionId', 'id'),
    question,
    answers: answersOf(value),
    ...(await imageOf(value, { name, reader })),
    ...placeOf(value, name === '' ? textOf(value.image) : name),
    taskType: firstOf(value, 'taskType', 'topic', 'category') ?? firstOf({ types: typesOf(value) }, 'types'),
  });
}

/** SkillOpt writes the path of the image after the question. */
export function splitQuestion(text: string): [question: string, documentPath: string] {
  const at = text.indexOf(PATH_MARK);
  return at === -1 ? [strip(text), ''] : [strip(text.slice(0, at)), strip(text.slice(at + PATH_MARK.length))];
}

/** The first of these fields that has text or a number in it. */
function firstOf(value: Fields, ...names: readonly string[]): string | undefined {
  const found = names.map((name) => value[name]).find((field) => isWord(field) && strip(String(field)) !== '');
  return found === undefined ? undefined : strip(String(found));
}

const isWord = (field: unknown) => ['string', 'number', 'bigint'].includes(typeof field);

const ANSWER_NAMES = ['answers', 'answer', 'ground_truth'];

function answersOf(value: Fields): string[] {
  const cells = cellsOf(value) ?? {};
  const name = ANSWER_NAMES.find((known) => value[known] != null && value[known] !== '');
  if (name === undefined) return [];
  const cell = cells[name];
  if (cell === undefined) return filled(goldTexts(value[name]));
  const answers = answersInCell(cell);
  // In our own CSV files answers have bars between them.
  return answers[0] === cell && Array.isArray(value[name]) ? filled(value[name].map(textOf)) : answers;
}

/** The first of several: a table of scores by type has to add up. */
const typesOf = ({ question_types: types }: Fields) => (types == null ? undefined : goldTexts(types)[0]);

type Named = { readonly name: string; readonly reader: RowReader };

async function imageOf(value: Fields, { name, reader }: Named): Promise<{ image: string; imageSha256: string }> {
  if (name === '' && isObject(value.image)) return keptImage(value.image, reader);
  const written = name === '' ? firstOf(value, 'image') : name;
  if (written === undefined) throw new Error('"image_path" must name the image of the page, got nothing');
  const image = await nameBelow(written, reader.files);
  const { sha256 } = await readImage(reader.files, image);
  const expected = firstOf(value, 'imageSha256') ?? sha256;
  if (expected !== sha256) throw new Error(`the image ${image} has changed: its SHA-256 is ${sha256}, not ${expected}`);
  return { image, imageSha256: sha256 };
}

/** Pages have many questions: one image each, by what is in it. */
async function keptImage(packed: object, { keep }: RowReader): Promise<{ image: string; imageSha256: string }> {
  const { bytes, ending, sha256 } = toImage(await bytesOf(packed), 'the image in the row');
  return { image: await keep(`images/${sha256.slice(0, 32)}.${ending}`, bytes), imageSha256: sha256 };
}

async function bytesOf(packed: object): Promise<Uint8Array> {
  if (isPackedImage(packed)) return packed.read();
  const { bytes } = packed as { bytes?: unknown };
  if (bytes instanceof Uint8Array) return bytes;
  throw new Error('the image stands inside the row, and must be unpacked first: skillopt bench pull docvqa');
}

/** Where a folder lies is no part of an item: an absolute name becomes one below the folder. */
async function nameBelow(name: string, files: DataFiles): Promise<string> {
  if (!isAbsolute(name)) return name;
  const path = await files.pathOf(name);
  const roots = await Promise.all(files.roots.map((root) => realpath(root).catch(() => root)));
  const below = roots.map((root) => relative(root, path)).find((way) => !way.startsWith('..') && !isAbsolute(way));
  return (below ?? name).split(sep).join('/');
}

/** Images of the archive that the pages come from are called by document and page: `ffbf0227_5.png`. */
const PAGE_NAME = /^([a-z]{4}\d{4})_\d+$/;

function placeOf(value: Fields, imageName: string) {
  const page = basename(imageName).replace(/\.\w{1,5}$/, '');
  const named = PAGE_NAME.exec(page);
  const document = firstOf(value, 'document', 'ucsf_document_id') ?? named?.[1];
  const number = firstOf(value, 'ucsf_document_page_no');
  const numbered = document !== undefined && number !== undefined ? `${document}_${number}` : undefined;
  return { document, page: firstOf(value, 'page', 'docId') ?? numbered ?? named?.[0] };
}
