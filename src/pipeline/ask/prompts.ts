import { readFileSync } from 'node:fs';
import {
  HEADINGS,
  PROMPT_NAMES,
  type PromptName,
  type PromptOverrides,
  promptSection,
} from '../../core/contracts/index.ts';
import { type EditPolicy, partOf, SKILL_FILE, splitPackage, type UpdateMode } from '../../core/document/index.ts';
import { oneLine } from '../../core/text/index.ts';

/** The optimizer's system prompts: ours, or those given by name. `{{key}}` is filled in from `extras`. */
export function loadPrompts(
  overrides: PromptOverrides = {},
  extras: Readonly<Record<string, unknown>> = {},
): Record<PromptName, string> {
  const load = (name: PromptName) =>
    overrides[name] ?? readFileSync(new URL(`./prompts/${folderOf(name)}${name}.md`, import.meta.url), 'utf8');
  return Object.fromEntries(PROMPT_NAMES.map((name) => [name, fillIn(load(name), extras)])) as Record<
    PromptName,
    string
  >;
}

/** The prompts of an update mode of their own lie together. */
const folderOf = (name: PromptName) => /(?:^|_)((?:full_)?rewrite)$/.exec(name)?.[1]?.concat('/') ?? '';

function fillIn(prompt: string, extras: Readonly<Record<string, unknown>>): string {
  return prompt.replace(/\{\{(\w+)\}\}/g, (placeholder, key: string) =>
    Object.hasOwn(extras, key) ? String(extras[key]) : placeholder,
  );
}

type PromptWork = 'analyst_error' | 'analyst_success' | 'merge_failure' | 'merge_success' | 'merge_final' | 'ranking';

const SUFFIX = { patch: '', rewrite_from_suggestions: '_rewrite', full_rewrite_minibatch: '_full_rewrite' } as const;

/** The prompt for a piece of work, in the words of an update mode. Whole rewrites are never ranked. */
export function modePrompt(base: PromptWork, mode: UpdateMode): PromptName {
  return `${base}${base === 'ranking' && mode === 'full_rewrite_minibatch' ? '' : SUFFIX[mode]}` as PromptName;
}

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
