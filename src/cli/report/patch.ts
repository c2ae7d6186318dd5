import { createTwoFilesPatch } from 'diff';
import { withLineFeeds } from '../../core/document/index.ts';
import { printable } from '../../core/text/index.ts';
import { type Colors, textWidth, wrap } from '../../report/index.ts';

const MOST_EDITS = 1_000;

type Versions = Readonly<Record<'from' | 'to' | 'before' | 'after', string>>;

/**
 * Empty where nothing but line endings differs. Versions with little in common are shown one after the other: to look for more
 * would take minutes.
 */
export function patchOf({ from, to, ...texts }: Versions): string {
  const [before, after] = [withLineFeeds(texts.before), withLineFeeds(texts.after)];
  if (before === after) return '';
  const [old, young] = [before.split('\n'), after.split('\n')];
  const isHopeless = Math.abs(old.length - young.length) > MOST_EDITS + 1; // each line more is an edit; a last one may be none
  const options = { maxEditLength: MOST_EDITS };
  const patch = isHopeless ? undefined : createTwoFilesPatch(from, to, before, after, undefined, undefined, options);
  const marked = (sign: string, lines: readonly string[]) => lines.map((line) => `${sign}${line}`);
  return patch ?? [`--- ${from}`, `+++ ${to}`, ...marked('-', old), ...marked('+', young), ''].join('\n');
}

type Named = readonly (readonly [name: string, text: string])[];

/** The same of several files, one after the other, each under its name. One document alone has none. */
export function filesPatch({ from, to }: Pick<Versions, 'from' | 'to'>, before: Named, after: Named): string {
  const [old, young] = [new Map(before), new Map(after)];
  const names = [...new Set([...old.keys(), ...young.keys()])];
  const isOne = names.length === 1;
  return names
    .map((name) => {
      const sides = { before: old.get(name) ?? '', after: young.get(name) ?? '' };
      return patchOf({ from: isOne ? from : `${from}/${name}`, to: isOne ? to : `${to}/${name}`, ...sides });
    })
    .join('');
}

/** A patch in columns: each piece of a line that is wider begins with the sign and the indent of the line. */
export const foldPatch = (patch: string, width: number): string =>
  patch
    .split('\n')
    .flatMap((line) => (textWidth(line) <= width ? [line] : foldLine(line, width)))
    .join('\n');

function foldLine(line: string, width: number): string[] {
  const indent = /^[-+ ]? */.exec(line)![0];
  const rest = line.slice(indent.length);
  const room = Math.max(20, width - indent.length);
  return wrap(rest, room)
    .flatMap((piece) => inPieces(piece, room))
    .map((piece) => indent + piece);
}

/** A word that is wider than a line is cut: nobody copies it out of a patch. */
const inPieces = (text: string, width: number): string[] =>
  textWidth(text) <= width ? [text] : (text.match(new RegExp(`.{1,${width}}`, 'gsu')) ?? []);

/** The patch as lines, without the ruler above its head. */
export function coloured(patch: string, { green, red, cyan, bold }: Colors): string[] {
  const paint = (line: string) => {
    if (/^(---|\+\+\+) /.test(line)) return bold(line);
    if (line.startsWith('@@')) return cyan(line);
    if (line.startsWith('+')) return green(line);
    return line.startsWith('-') ? red(line) : line;
  };
  return printable(patch)
    .trimEnd()
    .split('\n')
    .filter((line) => !/^=+$/.test(line))
    .map(paint);
}
