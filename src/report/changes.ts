import { createTwoFilesPatch, diffLines } from 'diff';
import { isFileLine, SKILL_FILE, type Trained, trainsPackage, withLineFeeds } from '../core/document/index.ts';
import { oneLine, plural, printable } from '../core/text/index.ts';
import { type Colors, type LineStyle, textWidth, wrap } from './layout.ts';
import type { LineCount } from './verdict-words.ts';

/** Texts with less in common are shown one after the other: to look for more would take minutes. */
const MOST_EDITS = 1_000;

/** Every line of two versions with what became of it: ` `, `-` or `+`. How lines end is no change. */
export function changedLines(before: string, after: string): string[] {
  const [old, young] = [before, after].map(asLines) as [string, string];
  const parts = diffLines(old, young, { maxEditLength: MOST_EDITS }) ?? [
    { value: old, removed: true, added: false },
    { value: young, removed: false, added: true },
  ];
  return parts.flatMap(({ value, added, removed }) => {
    const sign = added ? '+' : removed ? '-' : ' ';
    return value
      .replace(/\n$/, '')
      .split('\n')
      .map((line) => `${sign}${line}`);
  });
}

function asLines(text: string): string {
  const lines = withLineFeeds(text);
  return lines === '' || lines.endsWith('\n') ? lines : `${lines}\n`;
}

export type SkillChange = LineCount & {
  /** The lines that were added and removed, with their signs. Empty ones say nothing and are left out. */
  readonly lines: readonly string[];
};

/** What training made of a skill, as far as a person wants to see it. Lines that name the files of a package are shown, and not counted. */
export function skillChange(before: string, after: string, trained: Trained = {}): SkillChange {
  const lines = before === after ? [] : changedLines(before, after).filter((line) => /^[+-].*\S/.test(line));
  const isCounted = (line: string) => !trainsPackage(trained) || !isFileLine(line.slice(1));
  const counted = lines.filter(isCounted);
  const added = counted.filter((line) => line.startsWith('+')).length;
  return { lines, added, removed: counted.length - added };
}

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

/** What applying a run would do to its document, and to the files beside it. */
type ApplyFigures = {
  readonly document: { readonly path: string; readonly realPath: string };
  readonly before: string;
  readonly after: string;
  readonly others: readonly {
    readonly name: string;
    /** Null: there is no such file, before or after. */
    readonly before: string | null;
    readonly after: string | null;
    readonly standing: 'write' | 'same' | 'changed';
  }[];
};

export type RunVerdict = { readonly isProven: boolean; readonly text: string };

type Preview = { readonly patch: string; readonly verdict: RunVerdict; readonly uncommitted: number | null };

/** The change, what the run came to, and what git knows nothing of yet. */
export function previewLines(
  { document }: ApplyFigures,
  { patch, verdict, uncommitted }: Preview,
  { width, colors }: LineStyle,
) {
  const dirty = `${plural(uncommitted ?? 0, 'change')} not committed in the tree around ${document.realPath}`;
  return [
    ...coloured(patch, colors),
    '',
    ...wrap(verdict.text, width).map(verdict.isProven ? colors.green : colors.yellow),
    ...(uncommitted ? [colors.yellow(`git: ${oneLine(dirty)}; nothing will be committed`)] : []),
  ];
}

type Written = { readonly backup: string | null; readonly undo: string };

/** Where it is now, and how to undo it. */
export function writtenLines(plan: ApplyFigures, { backup, undo }: Written, { colors }: LineStyle) {
  const { path, realPath } = plan.document;
  const { files = [] } = writtenFiles(plan);
  const row = (title: string, text: string) => `  ${colors.dim(title.padEnd(6))} ${oneLine(text)}`;
  return [
    `${colors.bold('applied')} ${oneLine(realPath)}`,
    ...(path === realPath ? [] : [row('link', `${path} leads to it`)]),
    row('before', backup ?? 'there was no file'),
    ...files.map(({ name, change }) => row('file', `${name} ${change}`)),
    row('undo', undo),
  ];
}

/** The change of each file, one after the other. */
export function patchOfPlan({ before, after, others }: ApplyFigures): string {
  const changed = others.filter(({ standing }) => standing === 'write');
  const table = (side: 'before' | 'after') =>
    changed.flatMap((file) => (file[side] === null ? [] : [[file.name, file[side]] as const]));
  const versions = { from: 'now', to: 'trained' };
  return filesPatch(versions, [[SKILL_FILE, before], ...table('before')], [[SKILL_FILE, after], ...table('after')]);
}

/** Beside the document itself, where there are any. */
export function writtenFiles({ others }: ApplyFigures) {
  const files = others
    .filter(({ standing }) => standing === 'write')
    .map(({ name, before, after }) => {
      return { name, change: before === null ? 'created' : after === null ? 'deleted' : 'changed' };
    });
  return files.length === 0 ? {} : { files };
}
