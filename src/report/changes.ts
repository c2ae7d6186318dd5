import { createTwoFilesPatch, diffLines } from 'diff';
import { isFileLine, SKILL_FILE, type Trained, trainsPackage, withLineFeeds } from '../core/document/index.ts';
import { oneLine, plural, printable } from '../core/text/index.ts';
import { type Colors, type LineStyle, textWidth, wrap } from './layout.ts';

/** Texts with less in common are shown one after the other: a longer search would take minutes. */
const MOST_EDITS = 1_000;

/** Every line of two versions with its sign: ` `, `-` or `+`. Line endings do not count. */
export function changedLines(before: string, after: string): string[] {
  const [old, young] = [asLines(before), asLines(after)];
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

/** How many lines a skill gained and lost, without empty ones. */
export type LineCount = { readonly added: number; readonly removed: number };

export type SkillChange = LineCount & {
  /** The lines that were added and removed, with their signs, without empty ones. */
  readonly lines: readonly string[];
};

/** What training changed in a skill. Lines that name the files of a package are shown, but not counted. */
export function skillChange(before: string, after: string, trained: Trained = {}): SkillChange {
  const lines = before === after ? [] : changedLines(before, after).filter((line) => /^[+-].*\S/.test(line));
  const counted = lines.filter((line) => !trainsPackage(trained) || !isFileLine(line.slice(1)));
  const added = counted.filter((line) => line.startsWith('+')).length;
  return { lines, added, removed: counted.length - added };
}

type Versions = Readonly<Record<'from' | 'to' | 'before' | 'after', string>>;

/** Empty if only line endings differ. */
export function patchOf({ from, to, ...texts }: Versions): string {
  const [before, after] = [withLineFeeds(texts.before), withLineFeeds(texts.after)];
  if (before === after) return '';
  const [old, young] = [before.split('\n'), after.split('\n')];
  const isHopeless = Math.abs(old.length - young.length) > MOST_EDITS + 1; // each further line is an edit, but for the last
  const options = { maxEditLength: MOST_EDITS };
  const patch = isHopeless ? undefined : createTwoFilesPatch(from, to, before, after, undefined, undefined, options);
  const marked = (sign: string, lines: readonly string[]) => lines.map((line) => `${sign}${line}`);
  return patch ?? [`--- ${from}`, `+++ ${to}`, ...marked('-', old), ...marked('+', young), ''].join('\n');
}

type FileTexts = readonly (readonly [name: string, text: string])[];

/** The patches of several files, one after the other, each under its name. A single document has no name. */
export function filesPatch({ from, to }: Pick<Versions, 'from' | 'to'>, before: FileTexts, after: FileTexts): string {
  const [old, young] = [new Map(before), new Map(after)];
  const names = [...new Set([...old.keys(), ...young.keys()])];
  const patches = names.map((name) => {
    const ending = names.length === 1 ? '' : `/${name}`;
    const sides = { before: old.get(name) ?? '', after: young.get(name) ?? '' };
    return patchOf({ from: from + ending, to: to + ending, ...sides });
  });
  return patches.join('');
}

/** A patch in columns: each piece of a longer line begins with the sign and the indent of the line. */
export const foldPatch = (patch: string, width: number): string =>
  patch
    .split('\n')
    .flatMap((line) => (textWidth(line) <= width ? [line] : foldLine(line, width)))
    .join('\n');

function foldLine(line: string, width: number): string[] {
  const indent = /^[-+ ]? */.exec(line)![0];
  const room = Math.max(20, width - indent.length);
  const longWord = new RegExp(`.{1,${room}}`, 'gsu'); // is cut: nobody copies it out of a patch
  return wrap(line.slice(indent.length), room)
    .flatMap((piece) => (textWidth(piece) <= room ? [piece] : (piece.match(longWord) ?? [])))
    .map((piece) => indent + piece);
}

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

/** What applying a run would do to its document, and to the files beside it. A file that does not exist is `null`. */
export type ApplyFigures = {
  readonly document: { readonly path: string; readonly realPath: string };
  readonly before: string;
  readonly after: string;
  readonly others: readonly {
    /** Relative to the folder of the skill. */
    readonly name: string;
    readonly before: string | null;
    readonly after: string | null;
    readonly standing: 'write' | 'same' | 'changed';
  }[];
};

export type RunVerdict = { readonly isProven: boolean; readonly text: string };

type Preview = { readonly patch: string; readonly verdict: RunVerdict; readonly uncommitted: number | null };

/** The change, what the run came to, and uncommitted changes around the document. */
export function previewLines({ document }: ApplyFigures, preview: Preview, { width, colors }: LineStyle): string[] {
  const { patch, verdict, uncommitted } = preview;
  const dirty = `${plural(uncommitted ?? 0, 'change')} not committed in the tree around ${document.realPath}`;
  return [
    ...coloured(patch, colors),
    '',
    ...wrap(verdict.text, width).map(verdict.isProven ? colors.green : colors.yellow),
    ...(uncommitted ? [colors.yellow(`git: ${oneLine(dirty)}; nothing will be committed`)] : []),
  ];
}

type Written = { readonly backup: string | null; readonly undo: string };

export function writtenLines(plan: ApplyFigures, { backup, undo }: Written, { colors }: LineStyle): string[] {
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

export function patchOfPlan({ before, after, others }: ApplyFigures): string {
  const changed = others.filter(({ standing }) => standing === 'write');
  const table = (side: 'before' | 'after') =>
    changed.flatMap((file) => (file[side] === null ? [] : [[file.name, file[side]] as const]));
  const versions = { from: 'now', to: 'trained' };
  return filesPatch(versions, [[SKILL_FILE, before], ...table('before')], [[SKILL_FILE, after], ...table('after')]);
}

/** The files that were written beside the document, if there are any. */
export function writtenFiles({ others }: Pick<ApplyFigures, 'others'>) {
  const changeOf = ({ before, after }: ApplyFigures['others'][number]) =>
    before === null ? 'created' : after === null ? 'deleted' : 'changed';
  const written = others.filter(({ standing }) => standing === 'write');
  return written.length === 0 ? {} : { files: written.map((file) => ({ name: file.name, change: changeOf(file) })) };
}
