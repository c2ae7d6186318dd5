/** A word, and where phrases are counted: how much it weighs. Scripts without spaces have a word per character, at half weight. */
export type Word = { readonly text: string; readonly weight: number };

const WORD = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]|[\p{L}\p{N}]/u;
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/** Words in lower case, without punctuation: what two texts share however they are written. */
export function splitWords(text: string): Word[] {
  const words: Word[] = [];
  let current = '';
  const close = () => {
    if (current !== '') words.push({ text: current, weight: 1 });
    current = '';
  };
  for (const character of text.normalize('NFKC').toLowerCase()) {
    if (WORD.test(character) && !UNSPACED.test(character)) current += character;
    else close();
    if (UNSPACED.test(character)) words.push({ text: character, weight: 0.5 });
  }
  close();
  return words;
}

/** The words with a space around each, so that a search for some of them finds whole words only. */
export function joinWords(words: readonly Word[]): string {
  return ` ${words.map(({ text }) => text).join(' ')} `;
}

/** Every run of words that weighs `size`, as a string that `joinWords` of a longer text contains. */
export function phrasesOf(words: readonly Word[], size: number): string[] {
  const phrases: string[] = [];
  for (let start = 0; start < words.length; start++) {
    let weight = 0;
    let end = start;
    while (end < words.length && weight < size) weight += words[end++]!.weight;
    if (weight < size) break;
    phrases.push(joinWords(words.slice(start, end)));
  }
  return phrases;
}
