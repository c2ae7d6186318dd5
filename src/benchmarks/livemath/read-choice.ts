import { casefold, strip } from '../../core/text/index.ts';

export const RULES = ['reference', 'repaired'] as const;

/** `reference`: as SkillOpt reads answers. `repaired`: a label also in brackets, in bold, in a box, or after words such as `Answer:`. */
export type ChoiceRule = (typeof RULES)[number];

type Choice = { readonly label: string; readonly text: string };

export const labelAt = (index: number): string => String.fromCharCode('A'.charCodeAt(0) + index);

/** `b).` as `B`. */
export function labelOf(text: string): string {
  const upper = strip(text).toUpperCase();
  let end = upper.length;
  while (end > 0 && '.):'.includes(upper[end - 1]!)) end--;
  return upper.slice(0, end);
}

export const isExactly = (one: string, other: string): boolean => casefold(strip(one)) === casefold(strip(other));

/** The label of the choice that an answer means. An answer that means none is returned without the marks at its end, in capitals. */
export function readChoice(answer: string, choices: readonly Choice[], rule: ChoiceRule): string {
  const labels = new Set(choices.map(({ label }) => label));
  const whole = labelOf(answer);
  if (labels.has(whole)) return whole;
  const same = choices.find(({ text }) => isExactly(text, answer));
  if (same) return same.label;
  const first = labelOf(firstWord(answer));
  if (labels.has(first)) return first;
  const found = rule === 'repaired' ? wrappedLabel(answer) : undefined;
  return found !== undefined && labels.has(found) ? found : whole;
}

const firstWord = (text: string) => /^\S+/.exec(strip(text))?.[0] ?? '';

// Each pattern begins at the beginning, and no two of its parts can take the same character: a long text costs one walk.
const OPENING = /^(?:[\s*_`$"'“‘([{]|\\[([]|\\(?:boxed|text|textbf|mathbf|mathrm|mathsf)(?![a-z]))+/;
const LEADING_WORD =
  /^(?:so|thus|hence|therefore|the|my|final|correct|right|best|answer|option|choice|label|letter|is)(?![\p{L}\p{N}])[:,.]*/iu;
/** A label, then nothing but what closes it. */
const ALONE = /^([A-Za-z])[\s.:)\]}*_`"'”’$\\]*$/;
/** A label that is closed, then more text. Not `$`: `$A$ is compact` begins with a set. */
const CLOSED = /^([A-Za-z])[.:)\]}*_`"”]+(?=\s)/;
/** `Therefore, the correct answer is option B` has six. */
const MOST_WORDS = 8;

function wrappedLabel(answer: string): string | undefined {
  let rest = strip(answer);
  let isLed = false;
  for (let words = 0; words <= MOST_WORDS; words++) {
    const opened = rest.replace(OPENING, '');
    const next = opened.replace(LEADING_WORD, '');
    const isWrapped = isLed || /[^\s$]/.test(rest.slice(0, rest.length - opened.length));
    if (next === opened) return (ALONE.exec(opened) ?? (isWrapped ? CLOSED.exec(opened) : null))?.[1]?.toUpperCase();
    isLed = true;
    rest = next;
  }
  return undefined;
}
