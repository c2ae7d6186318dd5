import { readFile, realpath, stat } from 'node:fs/promises';
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import { parseFrontmatter } from './parse-frontmatter.ts';
import { relativeLinks } from './relative-links.ts';

/** What fits into a prompt beside the skill itself. */
const MOST_BYTES = 48_000;

export type SkillFile = {
  /** As the skill names it, from its folder. */
  readonly path: string;
  readonly text: string;
};

/** Files that a skill refers to: those that a prompt can hold, in order of mention, and why others are not among them. */
type SkillFiles = {
  readonly files: readonly SkillFile[];
  readonly leftOut: readonly { readonly path: string; readonly why: string }[];
};

/** Reads what a skill links to, or names in backticks, in its own folder. What those files refer to is not followed. */
export async function readSkillFiles(document: { readonly file: string; readonly text: string }): Promise<SkillFiles> {
  const folder = await realpath(dirname(document.file));
  const files: SkillFile[] = [];
  const leftOut: SkillFiles['leftOut'][number][] = [];
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

type Mention = { readonly path: string; readonly isLink: boolean; readonly line: number };

/** A path with an extension. A word in backticks is often something else: it counts only where there is such a file. */
const NAMED = /(?<!`)`(?:\.\/)?([\w-][\w./-]*\.\w+)`(?!`)/g;

/** Each path once, by the line that mentions it first. */
function mentions(text: string): Mention[] {
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
