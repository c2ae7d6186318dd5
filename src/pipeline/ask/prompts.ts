import { readFileSync } from 'node:fs';
import {
  HEADINGS,
  PROMPT_NAMES,
  type PromptName,
  type PromptOverrides,
  promptSection,
} from '../../core/contracts/index.ts';
import { type EditPolicy, partOf, SKILL_FILE, splitPackage, type UpdateMode } from '../../core/document/index.ts';
import { memoize, oneLine } from '../../core/text/index.ts';

const readPrompt = memoize((path: string) => readFileSync(new URL(`./prompts/${path}.md`, import.meta.url), 'utf8'));

/** The optimizer's system prompts: ours, or those given by name. `{{key}}` is filled in from `extras`. */
export function loadPrompts(
  overrides: PromptOverrides = {},
  extras: Readonly<Record<string, unknown>> = {},
): Record<PromptName, string> {
  const load = (name: PromptName) => overrides[name] ?? readPrompt(`${folderOf(name)}${name}`);
  const prompts = PROMPT_NAMES.map((name) => [name, fillIn(load(name), extras)]);
  return Object.fromEntries(prompts) as Record<PromptName, string>;
}

/** Prompts of a rewriting mode have a folder of their own. */
const folderOf = (name: PromptName) => /(?:^|_)((?:full_)?rewrite)$/.exec(name)?.[1]?.concat('/') ?? '';

function fillIn(prompt: string, extras: Readonly<Record<string, unknown>>): string {
  return prompt.replace(/\{\{(\w+)\}\}/g, (placeholder, key: string) =>
    Object.hasOwn(extras, key) ? String(extras[key]) : placeholder,
  );
}

type PromptWork = 'analyst_error' | 'analyst_success' | 'merge_failure' | 'merge_success' | 'merge_final' | 'ranking';

const SUFFIX = { patch: '', rewrite_from_suggestions: '_rewrite', full_rewrite_minibatch: '_full_rewrite' } as const;

/** The prompt for a piece of work in an update mode. Whole rewrites are never ranked. */
export function modePrompt(base: PromptWork, mode: UpdateMode): PromptName {
  return `${base}${base === 'ranking' && mode === 'full_rewrite_minibatch' ? '' : SUFFIX[mode]}` as PromptName;
}

/** Prompts about packages and descriptions, by name: they are part of a run's identity. */
export const loadPackagePrompts = () => ({
  package: readPrompt('package/package').trim(),
  description: readPrompt('package/description').trim(),
});

/** Says what may be changed, unless that is the body of one document. */
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
