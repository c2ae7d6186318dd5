import { strip } from '../../core/text/index.ts';

/** Which skill a session used: data from a transcript. Looked up among skills that are there, never made into a path. */
export type SkillHint = { readonly plugin?: string; readonly skill: string };

/** Letters, digits and a few marks; nothing that separates folders, hides, or climbs. */
const NAME = /^(?!.*\.\.)[\p{L}\p{N}_][\p{L}\p{M}\p{N}_. -]{0,63}$/u;

/** `deploy`, or `plugin:deploy`. `undefined` for what is no such name. */
export function readSkillHint(text: string): SkillHint | undefined {
  const parts = strip(text).split(':');
  if (parts.length > 2 || !parts.every(isName)) return undefined;
  const [first, second] = parts as [string, string?];
  return second === undefined ? { skill: first } : { plugin: first, skill: second };
}

const isName = (part: string) => NAME.test(part) && !/[. ]$/.test(part);

/** As it is written into a task. */
const writeSkillHint = ({ plugin, skill }: SkillHint) => (plugin === undefined ? skill : `${plugin}:${skill}`);

/** The skill that was used, when it was only one; else nothing is known. */
export function onlySkill(names: readonly string[]): string {
  const distinct = [...new Set(names.map(strip))].filter((name) => name !== '');
  const hint = distinct.length === 1 ? readSkillHint(distinct[0]!) : undefined;
  return hint === undefined ? '' : writeSkillHint(hint);
}
