import { readFileSync } from 'node:fs';
import { PROMPT_NAMES, type PromptName, type PromptOverrides } from '../../core/prompt-name.ts';

/** The optimizer's system prompts: ours, or those given by name. `{{key}}` is filled in from `extras`. */
export function loadPrompts(
  overrides: PromptOverrides = {},
  extras: Readonly<Record<string, unknown>> = {},
): Record<PromptName, string> {
  const load = (name: PromptName) =>
    overrides[name] ?? readFileSync(new URL(`./prompts/${name}.md`, import.meta.url), 'utf8');
  return Object.fromEntries(PROMPT_NAMES.map((name) => [name, fillIn(load(name), extras)])) as Record<
    PromptName,
    string
  >;
}

function fillIn(prompt: string, extras: Readonly<Record<string, unknown>>): string {
  return prompt.replace(/\{\{(\w+)\}\}/g, (placeholder, key: string) =>
    Object.hasOwn(extras, key) ? String(extras[key]) : placeholder,
  );
}
