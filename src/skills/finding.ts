import { LineCounter } from 'yaml';

/** Stable names of what is checked, for machines. Messages may change; these do not. */
export type Rule =
  | 'frontmatter-missing'
  | 'frontmatter-length'
  | 'frontmatter-yaml'
  | 'field-missing'
  | 'field-unknown'
  | 'field-length'
  | 'field-not-text'
  | 'field-not-quoted'
  | 'name-characters'
  | 'name-hyphens'
  | 'name-folder'
  | 'metadata-not-map'
  | 'body-empty'
  | 'body-lines'
  | 'body-tokens'
  | 'marker-unpaired'
  | 'marker-nested'
  | 'link-missing';

/** One thing that is wrong with a skill, and where. Lines count from 1. */
export type Finding = {
  readonly line: number;
  /** An error breaks the specification or the trainer; a warning is advice. */
  readonly level: 'error' | 'warning';
  readonly rule: Rule;
  readonly message: string;
};

/** From an offset in the text to its line, counted from 1. */
export function lineFinder(text: string): (offset: number) => number {
  const counter = new LineCounter();
  counter.addNewLine(0);
  for (const { index } of text.matchAll(/\n/g)) counter.addNewLine(index + 1);
  return (offset) => counter.linePos(offset).line;
}
