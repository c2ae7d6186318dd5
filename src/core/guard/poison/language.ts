const setOf = (words: string) => new Set(words.split(' '));
const ENGLISH = setOf(
  'the a an and or not no of to in on at by for from with is are be as it its this that if when before after never use only all any each every must should may you your i me my we they what which also more most first own',
);
const FOREIGN = setOf(
  'der die das und nicht mit für auf ist ein eine den im zu nur nie ohne le la les et des une un du pas est dans pour avec el los las y en del con para por que se il lo di che non um uma com não em os het een niet van voor och att inte som er og ikke til det ve bir için nie się oraz',
);

/** Whether a sentence is in a language that is not read here. Code and names do not count. */
export function isForeign(sentence: string): boolean {
  const prose = sentence.replace(/`[^`\n]{1,400}`|```[\s\S]*/gu, ' ');
  const letters = prose.match(/\p{L}/gu)?.length ?? 0;
  const latin = prose.match(/\p{Script=Latin}/gu)?.length ?? 0;
  if (letters - latin >= 3 && letters - latin > letters / 5) return true;
  const words = prose.match(/(?<![\w./-])\p{L}[\p{L}']*(?![\w/-]|\.\w)/gu) ?? [];
  const count = (known: ReadonlySet<string>) => words.filter((word) => known.has(word)).length;
  return count(FOREIGN) > count(ENGLISH);
}
