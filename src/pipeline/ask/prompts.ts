import { readFileSync } from 'node:fs';
import { PROMPT_NAMES, type PromptName, type PromptOverrides } from '../../core/contracts/index.ts';
import type { UpdateMode } from '../../core/document/index.ts';

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

type Base = 'analyst_error' | 'analyst_success' | 'merge_failure' | 'merge_success' | 'merge_final' | 'ranking';

const SUFFIX = { patch: '', rewrite_from_suggestions: '_rewrite', full_rewrite_minibatch: '_full_rewrite' } as const;

/** The prompt for a piece of work, in the words of an update mode. Whole rewrites are never ranked. */
export function modePrompt(base: Base, mode: UpdateMode): PromptName {
  return `${base}${base === 'ranking' && mode === 'full_rewrite_minibatch' ? '' : SUFFIX[mode]}` as PromptName;
}
