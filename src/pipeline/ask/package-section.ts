import { readFileSync } from 'node:fs';
import { HEADINGS, promptSection } from '../../core/contracts/index.ts';
import { type EditPolicy, partOf, SKILL_FILE, splitPackage } from '../../core/document/index.ts';
import { oneLine } from '../../core/text/index.ts';

const load = (name: string) => readFileSync(new URL(`./prompts/package/${name}.md`, import.meta.url), 'utf8').trim();

/** What an optimizer is told of packages and descriptions, by name: it is part of what a run is. */
export const loadPackagePrompts = () => ({ package: load('package'), description: load('description') });

/** What may be changed, where that is not the body of one document; nothing otherwise, so that other prompts stay as they are. */
export function policySections(skill: string, policy: EditPolicy | undefined): string[] {
  if (!policy) return [];
  const prompts = loadPackagePrompts();
  const isDescription = policy.parts.includes('description');
  const text = isDescription ? prompts.description : prompts.package.replace('{{files}}', () => filesOf(skill, policy));
  return [promptSection(HEADINGS.mayChange, text)];
}

function filesOf(skill: string, policy: EditPolicy): string {
  const parts: readonly string[] = policy.parts;
  return Object.keys(splitPackage(skill))
    .map((path) => `- ${oneLine(path)}: ${parts.includes(partOf(path)) ? mayChange(path) : 'may not be changed'}`)
    .join('\n');
}

const mayChange = (path: string) =>
  path === SKILL_FILE ? 'may be changed, but for its frontmatter' : 'may be changed';
