import { isPortableName } from '../text/index.ts';
import { frontmatterEnd } from './protected-regions.ts';

export type PackageFiles = Readonly<Record<string, string>>;

export const SKILL_FILE = 'SKILL.md';

/** A line that names a file; the file stands below it, up to the line end before the next one. */
const HEADER = /(?<=^|\n)=== file: ([^\n]+) ===(?:\n|$)/g;
/** What could be read as such a line, and the backslash that keeps it from that. */
const LIKE_HEADER = /(?<=^|\n)(?=\\*=== file: [^\n]* ===(?:\n|$))/g;
const KEPT_HEADER = /(?<=^|\n)\\(?=\\*=== file: [^\n]* ===(?:\n|$))/g;

const escaped = (text: string) => text.replace(LIKE_HEADER, '\\');

/** A package as one text: SKILL.md as it is, and each further file below a line with its path. */
export function joinPackage(files: PackageFiles): string {
  const others = Object.keys(files).filter((path) => path !== SKILL_FILE);
  const rest = others.sort().map((path) => `\n=== file: ${path} ===\n${escaped(files[path]!)}`);
  return escaped(files[SKILL_FILE] ?? '') + rest.join('');
}

/** The files of a package text. Without a line that names a file, it is SKILL.md alone. */
export function splitPackage(text: string): PackageFiles {
  const headers = [...text.matchAll(HEADER)];
  const starts = [0, ...headers.map(({ index, 0: line }) => index + line.length)];
  const paths = [SKILL_FILE, ...headers.map(([, path]) => path!)];
  const contents = starts.map((start, place) => {
    const next = headers[place]?.index;
    const kept = next === undefined ? text.slice(start) : text.slice(start, Math.max(start, next - 1));
    return kept.replace(KEPT_HEADER, '');
  });
  return Object.fromEntries(paths.map((path, place) => [path, contents[place]!]));
}

export const isFileLine = (line: string): boolean => /^=== file: .+ ===$/.test(line);

export function changedFiles(before: string, after: string): string[] {
  const [old, young] = [splitPackage(before), splitPackage(after)];
  const paths = [...new Set([...Object.keys(old), ...Object.keys(young)])];
  return paths.filter((path) => old[path] !== young[path]);
}

export const SKILL_PARTS = ['body', 'description', 'references', 'scripts'] as const;
export type SkillPart = (typeof SKILL_PARTS)[number];

const DEFAULT_PARTS: readonly SkillPart[] = ['body'];

/** What edits may change. Without a policy they change the body of one document. */
export type EditPolicy = { readonly isPackage: boolean; readonly parts: readonly SkillPart[] };

export type Trained = { readonly parts?: readonly SkillPart[] | undefined };

export const trainsPackage = ({ parts = DEFAULT_PARTS }: Trained) =>
  parts.includes('references') || parts.includes('scripts');

/** The files that a trained text stands for. */
export const filesBehind = (text: string, trained: Trained = {}): PackageFiles =>
  trainsPackage(trained) ? splitPackage(text) : { [SKILL_FILE]: text };

/** Whether anything but the body of one document is trained. */
export const trainsMore = ({ parts = DEFAULT_PARTS }: Trained) => parts.some((part) => part !== 'body');

/**
 * What the edits of a step may change. The description is trained in turns with the rest, at even steps: a description changes
 * when a skill is loaded, and so what the rest scores.
 */
export function policyOf(trained: Trained, step: number): EditPolicy | undefined {
  if (!trainsMore(trained)) return undefined;
  const { parts = DEFAULT_PARTS } = trained;
  const others = parts.filter((part) => part !== 'description');
  const isTurn = parts.includes('description') && (others.length === 0 || step % 2 === 0);
  return { isPackage: trainsPackage(trained), parts: isTurn ? ['description'] : others };
}

/** The part of a file. What lies under assets/ is installed, and never trained. */
export function partOf(path: string): SkillPart | 'assets' {
  if (path === SKILL_FILE) return 'body';
  if (path.startsWith('scripts/')) return 'scripts';
  return path.startsWith('assets/') ? 'assets' : 'references';
}

/** Files that are trained. SKILL.md always is: the others are found through it. */
export function trainedFiles(files: Readonly<Record<string, string>>, { parts = DEFAULT_PARTS }: Trained) {
  const isTrained = (path: string) =>
    path === SKILL_FILE || ((parts as readonly string[]).includes(partOf(path)) && !path.includes('\n'));
  return Object.fromEntries(Object.entries(files).filter(([path]) => isTrained(path)));
}

const PLAIN_NAME = /^[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,98}[A-Za-z0-9_])?$/;

/** A new file is a plain path in references/ or scripts/, or a Markdown file beside SKILL.md. */
export function isNewPath(path: string): boolean {
  const names = path.split('/');
  const isPlain = names.every((name) => PLAIN_NAME.test(name) && isPortableName(name));
  const isPlace = names.length === 1 ? path.endsWith('.md') : ['references', 'scripts'].includes(names[0]!);
  return isPlain && isPlace && names.length <= 4;
}

/** Whether a new file would stand in the place of another or below one, also without regard to case. */
export function isTaken(path: string, others: readonly string[]): boolean {
  const wanted = path.toLowerCase();
  return others.some((one) => {
    const known = one.toLowerCase();
    return known === wanted || known.startsWith(`${wanted}/`) || wanted.startsWith(`${known}/`);
  });
}

type Costly = { readonly file?: string | undefined };

const SCRIPT_COST = 3; // what runs weighs more than what is read
const costOf = ({ file = SKILL_FILE }: Costly) => (partOf(file) === 'scripts' ? SCRIPT_COST : 1);

/** The first edits that the budget pays for. One alone always fits. */
export function withinBudget<E extends Costly>(edits: readonly E[], budget: number): E[] {
  let left = budget;
  return edits.filter((edit) => {
    const isPaid = costOf(edit) <= left || (left === budget && budget > 0);
    if (isPaid) left -= costOf(edit);
    return isPaid;
  });
}

type DescriptionField = { readonly start: number; readonly end: number; readonly value: string };

const FIELD = /(?<=^|\n)description:([^\n]*(?:\n(?:[ \t][^\n]*|(?=\n)))*)/;

export function findDescription(skill: string): DescriptionField | undefined {
  const found = FIELD.exec(skill.slice(0, frontmatterEnd(skill)));
  if (!found) return undefined;
  const start = found.index;
  return { start, end: start + found[0].trimEnd().length, value: decode(found[1]!.trim()) };
}

const onOneLine = (text: string) => text.replace(/\s+/g, ' ').trim();

function decode(written: string): string {
  if (/^[|>]/.test(written)) return onOneLine(written.replace(/^[^\n]*/, ''));
  const [, inQuotes] = /^'((?:[^']|'')*)/.exec(written) ?? [];
  if (inQuotes !== undefined) return onOneLine(inQuotes.replaceAll("''", "'"));
  if (written.startsWith('"')) return onOneLine(fromQuotes(written));
  return onOneLine(written.replace(/(?:^|\s)#[^\n]*/g, ''));
}

function fromQuotes(written: string): string {
  const quoted = /^"(?:[^"\\]|\\.)*"/s.exec(written)?.[0] ?? '""';
  try {
    return String(JSON.parse(quoted.replace(/\\?(?<!\s)\s*\n\s*/g, ' ')));
  } catch {
    return quoted.slice(1, -1); // an escape that YAML knows and JSON does not
  }
}

/** The document with another description. All else stays byte for byte. */
export const withDescription = (skill: string, { start, end }: DescriptionField, value: string): string =>
  `${skill.slice(0, start)}description: ${encode(onOneLine(value))}${skill.slice(end)}`;

/** A value that YAML reads as it stands. All else is quoted. */
const PLAIN = /^[A-Za-z](?:[^\s:#]| (?!#)|:(?! |$)|#)*$/;
const WORDS = /^(?:true|false|null|yes|no|on|off)$/i;

const encode = (value: string) => (PLAIN.test(value) && !WORDS.test(value) ? value : JSON.stringify(value));
