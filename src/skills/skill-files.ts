import { readFile, realpath, stat } from 'node:fs/promises';
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import { parseFrontmatter } from './frontmatter.ts';

/** The limit in a prompt beside the skill itself. */
const MOST_BYTES = 48_000;

export type SkillFile = { readonly path: string; readonly text: string };

/** Reads the files in its folder that a skill links to or names in backticks, in order of mention. */
export async function readSkillFiles(document: { readonly file: string; readonly text: string }) {
  const folder = await realpath(dirname(document.file));
  const files: SkillFile[] = [];
  const leftOut: { readonly path: string; readonly why: string }[] = [];
  let room = MOST_BYTES;
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
  const inside = relative(folder, file);
  if (inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside))
    return { why: 'lies outside of its folder' };
  const info = await stat(file);
  if (info.isDirectory()) return { why: 'is a folder' };
  if (!info.isFile()) return { why: 'is no file' };
  if (info.size > room) return { why: `is too big: ${info.size} bytes, and ${room} of ${MOST_BYTES} are left` };
  return asText(await readFile(file));
}

function asText(bytes: Buffer): { text: string } | { why: string } {
  const text = bytes.toString('utf8');
  return text.includes('\0') || !Buffer.from(text).equals(bytes) ? { why: 'is no text' } : { text };
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
