import { open, readdir, readFile, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { RolloutResult, SkillError } from '../../core/contracts/index.ts';
import { type AttemptPlace, readPlaces, toPlace } from '../../core/run/index.ts';
import { parseJson } from '../../core/text/index.ts';

/** A file with attempts of a run. */
export type AttemptFile = {
  readonly path: string;
  /** Its path below the run without the ending, with slashes. */
  readonly file: string;
  /** Which part of the run made them: `step 3, the candidate`. */
  readonly part: string;
  /** Of a file that belongs to a step. */
  readonly step?: number;
};

/** The folders with attempts in the order of a run, and what was attempted there. `#` is the number or name in the folder. */
const FOLDERS: readonly (readonly [folder: RegExp, part: string])[] = [
  [/^baseline_selection_eval$/, 'the beginning'],
  [/^steps\/step_(\d+)$/, 'step #, training'],
  [/^steps\/step_(\d+)\/selection_eval$/, 'step #, the candidate'],
  [/^steps\/step_(\d+)\/salvage_eval\/part_(\d+)$/, 'step #, a part of the patch'],
  [/^steps\/step_(\d+)\/removal_eval$/, 'step #, without a passage'],
  [/^slow_update\/epoch_(\d+)\/selection_eval$/, 'epoch #, guidance'],
  [/^shorten_eval\/try_(\d+)$/, 'without lines that nothing supports'],
  [/^final_selection_eval$/, 'the end'],
  [/^prune_eval\/try_(\d+)$/, 'pruning'],
  [/^final_measurement$/, 'the final measurement'],
  [/^test_eval_(\w+)$/, 'test, # skill'],
];

/** `results` come first; the others were made to be sure. */
const NAMES = ['results', 'rollout_results', 'second_pass', 'asked_again', 'current', 'best'];
const FILE = new RegExp(`^(.+)/(${NAMES.join('|')}|pass_\\d+)$`);

/** The files with attempts in the folder of a run, in the order of the run. Links are not followed. */
export async function listAttemptFiles(runPath: string): Promise<AttemptFile[]> {
  const entries = await readdir(runPath, { recursive: true, withFileTypes: true });
  const found = entries.flatMap((entry) => {
    if (!entry.isFile() || !entry.name.endsWith('.json')) return [];
    const path = join(entry.parentPath, entry.name);
    const file = relative(runPath, path).split(sep).join('/').slice(0, -'.json'.length);
    const known = describe(file);
    return known ? [{ order: known.order, listed: { path, file, ...known.words } }] : [];
  });
  const byName = found.sort((one, other) => (one.listed.file < other.listed.file ? -1 : 1));
  return byName.sort((one, other) => compare(one.order, other.order)).map(({ listed }) => listed);
}

function describe(file: string) {
  const [, folder = '', name = ''] = FILE.exec(file) ?? [];
  const place = FOLDERS.findIndex(([pattern]) => pattern.test(folder));
  if (place === -1) return undefined;
  const [pattern, words] = FOLDERS[place]!;
  const [, first = '', second = ''] = pattern.exec(folder)!;
  const part = partOf(words.replace('#', first.replace(/^0+(?=\d)/, '')), name);
  const rank = Number(/\d+/.exec(name)?.[0] ?? NAMES.indexOf(name));
  const within = [Number(first) || 0, place, Number(second), rank];
  if (!folder.startsWith('steps/')) return { words: { part }, order: [place, ...within] };
  return { words: { part, step: Number(first) }, order: [FIRST_OF_STEPS, ...within] }; // all of a step before the next one
}

const FIRST_OF_STEPS = 1;

function partOf(words: string, name: string): string {
  if (name.endsWith('results')) return words;
  if (name === 'best') return `${words}, the best skill`;
  return name === 'current' ? words.replace(/[^, ][^,]*$/, 'the current skill again') : `${words} again`;
}

function compare(one: readonly number[], other: readonly number[]): number {
  const place = one.findIndex((number, index) => number !== other[index]);
  return place === -1 ? 0 : one[place]! - other[place]!;
}

/** The attempts in a file. Reads the index beside it; a file without one that fits is read whole. */
export async function readAttemptIndex(path: string): Promise<AttemptPlace[]> {
  return orCorrupt(path, async () => {
    const { size } = await stat(path);
    const text = await readFile(path.replace(/json$/, 'index.json'), 'utf8').catch(() => '');
    return readPlaces(parseJson(text), size) ?? rowsIn(await readFile(path));
  });
}

/** One attempt, without the rest of its file. */
export async function readAttempt(path: string, { id, offset, length }: AttemptPlace): Promise<RolloutResult> {
  return orCorrupt(path, async () => {
    await using file = await open(path);
    const { buffer } = await file.read(Buffer.alloc(length), 0, length, offset);
    const result = RolloutResult.parse(JSON.parse(buffer.toString()));
    if (result.id !== id) throw new Error(`the task ${id} was expected at byte ${offset}, and ${result.id} is there`);
    return result;
  });
}

async function orCorrupt<Answer>(path: string, read: () => Promise<Answer>): Promise<Answer> {
  try {
    return await read();
  } catch (cause) {
    const hint = 'Remove the file: the rest of the run does not need it.';
    throw new SkillError('JOURNAL_CORRUPT', `${path} cannot be read: ${(cause as Error).message}`, { cause, hint });
  }
}

function rowsIn(bytes: Buffer): AttemptPlace[] {
  if (!Array.isArray(JSON.parse(bytes.toString()))) return [];
  return elementsOf(bytes).map(({ start, end }) => {
    const text = bytes.toString('utf8', start, end);
    return toPlace(RolloutResult.parse(JSON.parse(text)), start, end - start);
  });
}

const [QUOTE, BACKSLASH, LIST, LIST_END, OBJECT, OBJECT_END] = Buffer.from('"\\[]{}');

/** Where the objects in a list begin and end. The bytes are valid JSON, whose signs are single bytes in UTF-8. */
function elementsOf(bytes: Buffer) {
  const elements: { start: number; end: number }[] = [];
  let [depth, start] = [0, 0];
  for (let place = 0; place < bytes.length; place += 1) {
    const byte = bytes[place];
    if (byte === QUOTE) place = endOfText(bytes, place);
    else if (byte === LIST || byte === OBJECT) {
      if (depth === 1) start = place;
      depth += 1;
    } else if (byte === LIST_END || byte === OBJECT_END) {
      depth -= 1;
      if (depth === 1) elements.push({ start, end: place + 1 });
    }
  }
  return elements;
}

function endOfText(bytes: Buffer, start: number): number {
  let place = start + 1;
  while (bytes[place] !== QUOTE) place += bytes[place] === BACKSLASH ? 2 : 1;
  return place;
}
