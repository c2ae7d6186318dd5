import { createHash } from 'node:crypto';
import { shuffle } from '../../core/contracts/index.ts';
import { defined, isObject, strip, textOf } from '../../core/text/index.ts';
import { loadItems, type Row } from '../../imports/index.ts';
import type { RowReader } from '../benchmark.ts';
import { inSplitOf, rowFiles } from '../data/find-rows.ts';
import { isExactly, labelAt, labelOf } from './read-choice.ts';

type Choice = { readonly label: string; readonly text: string };

type Fields = Readonly<Record<string, unknown>>;
type Order = { readonly shuffleChoices: boolean; readonly shuffleSeed: number };

/**
 * The fields of an item in a row. Choices are put in the order that the seed gives, with new letters from A. The item keeps the
 * seed, so that a row that was shuffled before is not shuffled twice.
 */
export function readRow({ value: row, where }: Row, { shuffleChoices, shuffleSeed }: Order): unknown {
  if (!isObject(row)) return row;
  const inner: Fields = isObject(row.mcq) ? row.mcq : row;
  const own = { ...row, ...inner };
  const { month = monthOf(where), no } = row;
  const id = text(row.id) ?? (text(month) && no != null ? `${textOf(month)}:${textOf(no)}` : text(no));
  if (id === undefined) throw new Error('a question has an "id", or "month" and "no"');
  const { choices, right } = readChoices(own.choices, own.correct_choice ?? own.correctChoice);
  const before = typeof row.shuffledWith === 'number' ? row.shuffledWith : undefined;
  const seed = shuffleChoices ? shuffleSeed : undefined;
  const order = reorder(choices.length, { id, before, after: seed });
  return defined({
    id,
    question: text(own.question),
    choices: order.map((from, to) => ({ label: labelAt(to), text: choices[from]!.text })),
    correctChoice: labelAt(order.indexOf(right)),
    theorem: text(row.theorem),
    sketch: text(row.sketch),
    taskType: text(row.taskType) ?? [row.theorem_type].flat().map(text).find(Boolean),
    paper: text(row.paper) ?? text(row.paper_link),
    shuffledWith: seed,
  });
}

/** Filled text, or a number as text. */
function text(value: unknown): string | undefined {
  const read = typeof value === 'string' || typeof value === 'number' ? strip(String(value)) : '';
  return read === '' ? undefined : read;
}

/** `202511` in `data/202511/qa_202511_final.json:3`. The name of the file takes precedence over those of its folders. */
const monthOf = (where: string): string | undefined =>
  [...where.matchAll(/(?<!\d)20\d\d(?:0[1-9]|1[0-2])(?!\d)/g)].at(-1)?.[0];

function readChoices(listed: unknown, correct: unknown): { choices: readonly Choice[]; right: number } {
  const choices = listOf(listed).filter((choice) => choice.text !== '');
  const twice = choices.find((one, index) => choices.findIndex(({ label }) => label === one.label) < index);
  if (twice) throw new Error(`two choices are labelled ${twice.label}`);
  const { label, text: rightText } = readCorrect(correct);
  const at = choices.findIndex((choice) => choice.label === label);
  if (at >= 0) return { choices, right: at };
  const same = choices.findIndex((choice) => rightText !== undefined && isExactly(choice.text, rightText));
  if (same >= 0) return { choices, right: same };
  if (!isObject(correct) || !/^[A-Z]$/.test(label) || rightText === undefined) {
    const labels = choices.map((choice) => choice.label).join(', ');
    throw new Error(`the right choice must be one of ${labels || 'the choices'}, got ${JSON.stringify(correct)}`);
  }
  // Upstream may list the right choice apart from the wrong ones. Its letter says where it belongs.
  const all = [...choices, { label, text: rightText }].sort((one, other) => (one.label < other.label ? -1 : 1));
  return { choices: all, right: all.findIndex((choice) => choice.label === label) };
}

function listOf(listed: unknown): Choice[] {
  const entries = Array.isArray(listed)
    ? listed.map((one, index): [unknown, unknown] => [entryLabel(one) ?? labelAt(index), entryText(one)])
    : isObject(listed)
      ? Object.entries(listed).sort(([one], [other]) => (one < other ? -1 : 1))
      : [];
  return entries.map(([label, content]) => ({ label: labelOf(textOf(label)), text: text(content) ?? '' }));
}

const entryLabel = (entry: unknown) => (isObject(entry) ? text(entry.label) : undefined);
const entryText = (entry: unknown) => (isObject(entry) ? (entry.text ?? entry.content) : entry);

/** `B`, the text of a choice, or `{ label, text }`. */
function readCorrect(correct: unknown): { readonly label: string; readonly text: string | undefined } {
  if (isObject(correct)) return { label: labelOf(text(correct.label) ?? ''), text: text(correct.text) };
  return { label: labelOf(text(correct) ?? ''), text: text(correct) };
}

type Reordering = {
  readonly id: string;
  readonly before: number | undefined;
  readonly after: number | undefined;
};

/** The place that each choice has in the row, in the new order: that of upstream, or that of a seed. */
function reorder(count: number, { id, before, after }: Reordering): number[] {
  const places = [...Array(count).keys()];
  if (before === after) return places;
  const shuffled = before === undefined ? places : choiceOrder(count, { id, seed: before });
  const original = places.map((place) => shuffled.indexOf(place));
  return (after === undefined ? places : choiceOrder(count, { id, seed: after })).map((place) => original[place]!);
}

/** The places of `count` choices after the shuffle that SkillOpt makes of them for this item and seed. */
export function choiceOrder(count: number, { id, seed }: { readonly id: string; readonly seed: number }): number[] {
  const hash = createHash('sha256').update(`${seed}:${id}`).digest('hex');
  return shuffle([...Array(count).keys()], BigInt(`0x${hash.slice(0, 16)}`));
}

const MONTHLY = /(?:^|\/)qa_[^/]*_final\.json$/i;

/** The rows of upstream's monthly files, numbered where they have no numbers; without such files, those of all task files. */
export async function findRows({ files }: RowReader): Promise<Row[]> {
  const names = await rowFiles(files);
  const monthly = names.filter((name) => MONTHLY.test(name));
  const read = (monthly.length > 0 ? monthly : names).map(async (name) => {
    const rows = inSplitOf(name, await loadItems(await files.pathOf(name)));
    return rows.map((row, index) => numbered(row, { month: monthOf(name), no: index + 1 }));
  });
  return (await Promise.all(read)).flat();
}

function numbered(row: Row, { month, no }: { readonly month: string | undefined; readonly no: number }): Row {
  if (!isObject(row.value)) return row;
  const { value } = row;
  return { ...row, value: { ...value, ...defined({ month: value.month ?? month }), no: value.no ?? no } };
}
