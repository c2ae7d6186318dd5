import { stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { count } from '../../core/text/index.ts';
import { readHead } from '../../envs/index.ts';
import { type Frontmatter, NO_SKILL_TEXT, parseFrontmatter, skillFileAt, skillTextOf } from '../../skills/index.ts';
import type { FoundSkill, LeftOut } from './found.ts';
import { MOST_FOLDERS, onceEach, skillFolders } from './list-files.ts';

const MAX_SKILL_BYTES = 200_000;

export type SkillSearch = {
  readonly skills: readonly FoundSkill[];
  /** Files that are called as skills are, and cannot be read. */
  readonly broken: readonly LeftOut[];
  /** What a person should know of the search itself. */
  readonly notes: readonly string[];
};

/** The skills in a folder and below it, each once. `named` is one that a person means, wherever it lies. */
export async function findSkills(directory: string, named?: string): Promise<SkillSearch> {
  const { folders, isCut } = await skillFolders(directory);
  const files: string[] = [];
  for (const folder of named === undefined ? folders : [...folders, named]) {
    const path = resolve(directory, folder);
    const file = await skillFileAt(path);
    if (file !== path && (await isFile(file))) files.push(relative(directory, file));
  }
  const looked = await Promise.all((await onceEach(directory, files)).map((file) => lookAt(directory, file)));
  return {
    skills: looked.filter((found) => 'name' in found),
    broken: looked.filter((found) => 'why' in found),
    notes: isCut ? [`only ${count(MOST_FOLDERS)} folders were looked into for skills: --skill PATH takes another`] : [],
  };
}

const isFile = (path: string) =>
  stat(path).then(
    (found) => found.isFile(),
    () => false,
  );

async function lookAt(directory: string, file: string): Promise<FoundSkill | LeftOut> {
  const read = await readText(join(directory, file));
  if ('why' in read) return { path: file, ...read };
  const folder = dirname(file);
  const frontmatter = parseFrontmatter(read.text);
  const [finding] = frontmatter.findings;
  return {
    path: folder === '.' ? file : folder,
    name: nameIn(frontmatter) ?? basename(resolve(directory, folder)),
    ...(finding ? { problem: `${file}:${finding.line}: ${finding.message}` } : {}),
  };
}

async function readText(path: string): Promise<{ readonly text: string } | { readonly why: string }> {
  try {
    const text = skillTextOf(await readHead(path, MAX_SKILL_BYTES));
    return text === undefined ? { why: NO_SKILL_TEXT } : { text };
  } catch (error) {
    return { why: `it cannot be read: ${(error as Error).message}` };
  }
}

function nameIn({ fields }: Frontmatter): string | undefined {
  const field = fields?.find(({ key }) => key === 'name');
  return field?.value.kind === 'text' && field.value.text.trim() !== '' ? field.value.text.trim() : undefined;
}
