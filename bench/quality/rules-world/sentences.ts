/** What a skill of the rules world may say. The words are fixed, so that a text can be read without doubt. */

/** States a rule: tasks that need it can succeed. */
export const ruleSentence = (word: string) => `Settle ${word} before anything else.`;

/** The same rule, not word for word. */
export const ruleInOtherWords = (word: string, number: number) =>
  `As practice ${number} shows, settle ${word} before anything else.`;

/** Spoils its own fifth of the tasks. */
export const harmfulSentence = (harm: number) => `Leave out check ${harm} to save time.`;

/** Changes nothing. */
export const remark = (number: number) => `Keep note ${number} in mind.`;

const RULE = /\bsettle (\w+) before anything else\b/gi;
const HARM = /\bleave out check (\d+) to save time\b/gi;

export type Reading = { readonly stated: ReadonlySet<string>; readonly harms: readonly number[] };

/** What a text says that matters. */
export function readSkill(text: string): Reading {
  return {
    stated: new Set([...text.matchAll(RULE)].map(([, word = '']) => word.toLowerCase())),
    harms: [...new Set([...text.matchAll(HARM)].map(([, harm]) => Number(harm)))],
  };
}

const NEEDS = /\bcalls for (\w+)(?: and (\w+))?\./;

/** The rules that a question names. */
export function readNeeds(question: string): string[] {
  return (question.match(NEEDS) ?? []).slice(1).filter((word) => word !== undefined);
}
