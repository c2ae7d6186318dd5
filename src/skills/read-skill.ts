import { readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { SkillError, type SkillPackage } from '../core/contracts/index.ts';
import { fileReason, isFileError, isMissing, readSmallFile, readSmallText } from '../stores/index.ts';
import { parseFrontmatter } from './frontmatter.ts';

/** In order of preference. */
const NAMES = ['SKILL.md', 'skill.md'];

/** The skill at a path. A file with another name, such as a version in a run, has no folder of its own. */
export async function readSkillFile(path: string) {
  const file = await skillFileAt(path);
  const text = await readSmallText(file).catch((cause) => {
    throw notFound(path, cause);
  });
  return { file, folder: NAMES.includes(basename(file)) ? dirname(file) : undefined, text };
}

/** Bytes as text, or undefined if they are none, such as a picture. The end may be cut within a letter. */
export function skillTextOf(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true });
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}

export const NO_SKILL_TEXT = 'expected a text in UTF-8, got other bytes';

/** The SKILL.md of a folder that has one, or else the path itself. Absolute. */
export const skillFileAt = async (path: string): Promise<string> => resolve((await skillFileIn(path)) ?? path);

/** The skills at a path: the file itself, the one in the folder, or those in its folders. */
export async function findSkillFiles(path: string): Promise<string[]> {
  const entries = await namesIn(path);
  if (entries === undefined) return [path];
  const own = await skillFileIn(path);
  if (own !== undefined) return [own];
  const below = await Promise.all(entries.sort().map((name) => skillFileIn(join(path, name))));
  const files = below.filter((file) => file !== undefined);
  if (files.length === 0) throw notFound(path);
  return files;
}

async function skillFileIn(folder: string): Promise<string | undefined> {
  const entries = await namesIn(folder);
  const name = NAMES.find((candidate) => entries?.includes(candidate));
  return name === undefined ? undefined : join(folder, name);
}

const namesIn = (folder: string): Promise<string[] | undefined> => readdir(folder).catch(() => undefined);

function notFound(path: string, cause?: NodeJS.ErrnoException): SkillError {
  return new SkillError('SKILL_NOT_FOUND', `${path} ${problemOf(cause)}`, {
    cause,
    hint: 'Name a SKILL.md, a folder with one, or a folder of such folders.',
  });
}

function problemOf(cause: NodeJS.ErrnoException | undefined): string {
  if (cause === undefined) return 'holds no SKILL.md, and no folder in it does';
  if (cause.code === 'EISDIR') return 'is a folder without a SKILL.md';
  return isMissing(cause) ? 'is not there' : `cannot be read: ${fileReason(cause)}`;
}

const FOREIGN =
  /(?:^|\/)(?:\.git|node_modules|__pycache__|runs|evals)(?:\/|$)|(?:^|\/)(?:\.DS_Store|\.env[^/]*)$|^skillopt\.config\./;

const MAX_PACKAGE_BYTES = 20_000_000;

/** A skill with its folder. `without` names paths that the agent must not see, such as tasks. A document with another name is alone. */
export async function readPackage(path: string, without: readonly string[] = []): Promise<SkillPackage> {
  try {
    return await readFiles(await skillFileAt(path), without);
  } catch (error) {
    throw isFileError(error) ? notFound(path, error) : error;
  }
}

async function readFiles(file: string, without: readonly string[]): Promise<SkillPackage> {
  if (basename(file).toLowerCase() !== 'skill.md') return { files: { 'SKILL.md': await readSmallText(file) } };
  const folder = dirname(file);
  const files: Record<string, string> = {};
  const binaries: Record<string, Uint8Array> = {};
  let bytes = 0;
  const hidden = without.map((one) => relative(folder, one).split(sep).join('/'));
  const isHidden = (name: string) => hidden.some((one) => name === one || name.startsWith(`${one}/`));
  for (const name of await filesIn(folder)) {
    if (isHidden(name)) continue;
    const content = await readSmallFile(join(folder, name), MAX_PACKAGE_BYTES - bytes).catch((error) => {
      throw error.code === 'ETOOLARGE' ? tooBig(folder) : error;
    });
    bytes += content.length;
    const text = content.toString('utf8');
    const place = name.toLowerCase() === 'skill.md' ? 'SKILL.md' : name;
    if (Buffer.from(text).equals(content)) files[place] = text;
    else binaries[place] = content;
  }
  return { files, ...(Object.keys(binaries).length === 0 ? {} : { binaries }) };
}

/** Plain files below a folder. Links are left out, since they may lead out of it. */
async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter((name) => !FOREIGN.test(name))
    .sort();
}

function tooBig(folder: string): SkillError {
  const problem = `${folder} holds more than ${MAX_PACKAGE_BYTES / 1e6} MB, which is no skill folder`;
  const hint = 'Name a folder that holds SKILL.md and what belongs to it, and nothing else.';
  return new SkillError('SKILL_NOT_FOUND', problem, { hint });
}

/** The limit in a prompt beside the skill itself. */
const MAX_MENTIONED_BYTES = 48_000;

export type SkillFile = { readonly path: string; readonly text: string };

/** Reads the files in its folder that a skill links to or names in backticks, in order of mention. */
export async function readSkillFiles(document: { readonly file: string; readonly text: string }) {
  const folder = await realpath(dirname(document.file));
  const files: SkillFile[] = [];
  const leftOut: { readonly path: string; readonly why: string }[] = [];
  let room = MAX_MENTIONED_BYTES;
  for (const { path, isLink } of mentions(document.text)) {
    const found = await readMentioned(folder, path, room);
    if ('text' in found) {
      files.push({ path, text: found.text });
      room -= Buffer.byteLength(found.text);
    } else if (isLink || found.why !== MISSING) leftOut.push({ path, why: found.why });
  }
  return { files, leftOut };
}

/** A path with an extension in backticks. It counts only if there is such a file. */
const NAMED = /(?<!`)`(?:\.\/)?([\w-][\w./-]*\.\w+)`(?!`)/g;

/** Each path once, by the line that mentions it first. */
function mentions(text: string) {
  const body = text.slice(parseFrontmatter(text).bodyStart);
  const links = relativeLinks(body).map(({ path, line }) => ({ path: plain(path), line, isLink: true }));
  const named = body
    .split('\n')
    .flatMap((words, index) =>
      [...words.matchAll(NAMED)].map(([, path]) => ({ path: plain(path!), line: index + 1, isLink: false })),
    );
  const all = [...links, ...named].sort((a, b) => a.line - b.line || Number(b.isLink) - Number(a.isLink));
  return all.filter(({ path }, index) => path !== '' && all.findIndex((other) => other.path === path) === index);
}

const plain = (path: string) => path.replace(/^(?:\.\/)+/, '');

const MISSING = 'is not there';

async function readMentioned(folder: string, path: string, room: number): Promise<{ text: string } | { why: string }> {
  const file = await realpath(resolve(folder, path)).catch(() => undefined);
  if (file === undefined) return { why: MISSING };
  if (!isInside(file, folder)) return { why: 'lies outside of its folder' };
  const info = await stat(file);
  if (info.isDirectory()) return { why: 'is a folder' };
  if (!info.isFile()) return { why: 'is no file' };
  if (info.size > room)
    return { why: `is too big: ${info.size} bytes, and ${room} of ${MAX_MENTIONED_BYTES} are left` };
  const bytes = await readSmallFile(file, room);
  const text = bytes.toString('utf8');
  return text.includes('\0') || !Buffer.from(text).equals(bytes) ? { why: 'is no text' } : { text };
}

export function isInside(path: string, folder: string): boolean {
  const below = relative(folder, path);
  return below !== '..' && !below.startsWith(`..${sep}`) && !isAbsolute(below);
}

export type Link = { readonly path: string; readonly line: number };

/** The target of a link or an image, without a title. */
const INLINE = /\]\(\s*(<[^<>]*>|[^\s()<]+(?:\([^\s()]*\)[^\s()]*)*)(?=[\s)])/g;
/** `[name]: target`, but no footnote. */
const DEFINITION = /^ {0,3}\[(?!\^)[^\]]+\]:\s*(<[^<>]*>|\S+)/;
/** With any indentation, since lists indent their code. With further backticks on the line it is inline code. */
const FENCE = /^\s*(`{3,}(?!.*`)|~{3,})(.*)$/;
const CODE = /(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)/g;
const ELSEWHERE = /^(?:[a-z][a-z\d+.-]*:|[/\\#?]|$)/i;

/** The relative paths that a Markdown text links to, except in code. */
export function relativeLinks(markdown: string): Link[] {
  const lines = linesOutsideFences(markdown).filter(({ text }) => text.includes('](') || text.includes(']:'));
  return lines.flatMap(({ text, line }) =>
    targetsIn(text.replace(CODE, '')).flatMap((target) => {
      const link = target.replace(/^<|>$/g, '');
      return ELSEWHERE.test(link) ? [] : [{ path: decoded(link.replace(/[?#].*$/, '')), line }];
    }),
  );
}

function targetsIn(line: string): string[] {
  const definition = line.match(DEFINITION);
  return [...(definition ? [definition] : []), ...line.matchAll(INLINE)].map(([, target]) => target!);
}

/** Shared, since a text may have a million empty lines. */
const NOTHING: never[] = [];

function linesOutsideFences(markdown: string): { text: string; line: number }[] {
  let fence = '';
  return markdown.split(/\r?\n/).flatMap((text, index) => {
    if (text === '') return NOTHING;
    const mayBeFence = text.includes('```') || text.includes('~~~');
    const [, marks = '', words = ''] = (mayBeFence && text.match(FENCE)) || [];
    const isInside = fence !== '';
    if (!isInside) fence = marks;
    else if (marks.startsWith(fence) && words.trim() === '') fence = '';
    return isInside || marks ? [] : [{ text, line: index + 1 }];
  });
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
