import { access } from 'node:fs/promises';
import { basename, isAbsolute, relative, resolve } from 'node:path';
import type { Finding } from './finding.ts';
import { lintSkill } from './lint-skill.ts';
import { parseFrontmatter } from './parse-frontmatter.ts';
import { readSkillFile } from './read-skill-file.ts';
import { type Link, relativeLinks } from './relative-links.ts';

export type LintedSkill = { readonly file: string; readonly findings: readonly Finding[] };

/** Lints a skill folder or a skill file. Where the folder is known, its name and the files linked in it count, too. */
export async function lintFolder(path: string): Promise<LintedSkill> {
  const { file, folder, text } = await readSkillFile(path);
  const findings = lintSkill({ folderName: folder === undefined ? undefined : basename(folder), text });
  const missing = folder === undefined ? [] : await missingLinks(text, folder);
  return { file, findings: [...findings, ...missing].sort((a, b) => a.line - b.line) };
}

async function missingLinks(text: string, folder: string): Promise<Finding[]> {
  const { bodyStart } = parseFrontmatter(text);
  // Blank lines for the frontmatter keep the numbers of the lines.
  const body = text.slice(0, bodyStart).replace(/[^\n]+/g, '') + text.slice(bodyStart);
  const links = relativeLinks(body).filter(({ path }) => isInside(path, folder));
  return (await Promise.all(links.map((link) => checkLink(link, folder)))).flat();
}

function isInside(path: string, folder: string): boolean {
  const fromFolder = relative(folder, resolve(folder, path));
  return !fromFolder.startsWith('..') && !isAbsolute(fromFolder);
}

async function checkLink({ path, line }: Link, folder: string): Promise<Finding[]> {
  const message = `expected a file at the end of the link ${JSON.stringify(path)}, but the folder has none there`;
  const missing: Finding = { line, level: 'warning', rule: 'link-missing', message };
  return access(resolve(folder, path)).then(
    () => [],
    () => [missing],
  );
}
