import { ASKS } from './signs.ts';

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

/** The form of texts and code. */
const FORM = new RegExp(
  `\\b(?:${[
    'tabs?|spaces?|indent\\w*|dates?|units?|headings?|titles?|bullets?|tables?|columns?|rows?|names?|named|camelcase|pascalcase|snake_case|kebab\\S*|prefix|suffix',
    'subject|imperative|tense|characters?|lines?|words?|sentences?|paragraphs?|spell\\w*|grammar|plural|singular|capital\\w*|lowercase|uppercase|quotes?|markdown|english|german',
    'decimals?|digits?|currenc\\w+|euros?|percent\\w*|round\\w*|iso|utc|time ?zones?|icons?|colou?rs?|fonts?|alt text|charts?|slides?|layouts?|footnotes?|alphabetical\\w*|sort\\w*|short|brief|concise|tone|formal|summar\\w+|changelog|docs|documentation|examples?|readme',
    'answers?|repl(?:y|ies)|be (?:brief|careful|precise|polite|specific)|comments?|docstrings?|imports?|exports?|functions?|methods?|class(?:es)?|components?|props|types?|typed|interfaces?|enums?|variables?|constants?|arguments?|parameters?|modules?|tests?|fixtures?|mocks?|json|yaml|csv|html|css|typescript|python|schemas?|fields?|async|promises?|null|booleans?|strings?|arrays?|migrations?|commits?|branch(?:es)?|generated|styles?|messages?|labels?|buttons?|lists?|pages?|quer(?:y|ies)|formatter|versions?',
  ].join('|')})\\b`,
  'u',
);
/** Conditions, people and reasons: a sentence with one of them is about more than form. */
const MORE =
  /\b(?:if|when|whenever|once|unless|until|because|since|so that|otherwise|even|although|anyway|customers?|people|users?|they|them|their|nobody|everyone|whoever|teams?|reviewers?|colleagues?|itself|afterwards|elsewhere|also|too|then|so|repositor\w+|repos|machines?|directly|freely|quick\w*|fast\w*|slow\w*|easier|harder|saves?|helps?|makes?|whatever|any\w*|who|hidden|sounds?)\b/u;
const FORBIDS =
  /^[\s*+>#-]*(?:never|don't|do not|no|avoid)\b(?!.*\b(?:unless|before|until|without|except|but|instead|if|when|is an?|are|counts?|too|also)\b)/su;

/** Whether a sentence is about the form of texts and code, forbids something, or gives the person a say. */
export const isPlainAdvice = (sentence: string): boolean =>
  FORBIDS.test(sentence) || ASKS.test(sentence) || (FORM.test(sentence) && !MORE.test(sentence));
