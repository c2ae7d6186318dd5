import { newPiecesOf } from '../../document/index.ts';
import { findPoison } from './find-poison.ts';
import { findSaid, isForbidden, MOST_CHARACTERS, plainOf, sentencesOf } from './sentences.ts';
import { ASKS, SIGNS } from './signs.ts';

/**
 * Why a person should look at a rule before it is adopted, each reason in a few words. A mark accuses nobody: rules that name a
 * command or a secret are often right. What is surely harmful is refused by `findPoison`. No rule is without a mark: a bad one
 * that avoids every word that is known here looks like a good one.
 */
export function findMarks(rule: string): string[] {
  if (rule.length > MOST_CHARACTERS) return ['is too long to read'];
  const sentences = sentencesOf(plainOf(rule));
  const reasons = [
    ...[findPoison(rule)?.reason ?? []].flat(),
    ...(BLOB.test(rule) ? ['holds an encoded text'] : []),
    ...sentences.flatMap(signsOf),
    ...(sentences.some(hasUnusualCommand) ? ['runs a command'] : []),
    ...(sentences.some(isForeign) ? ['is not in English'] : []),
  ];
  return reasons.length > 0 ? [...new Set(reasons)] : [NEW];
}

const signsOf = (sentence: string) =>
  SIGNS.filter((sign) => (sign.isForbidding || !ASKS.test(sentence)) && findSaid(sign, sentence) !== undefined).map(
    ({ reason }) => reason,
  );

const NEW = 'is new, and nothing in it stands out';

const BLOB = /(?<![\w/.-])(?=[\w+/]{0,40}\d)(?=[\w+/]{0,40}[A-Za-z])[\w+/]{28,}={0,2}(?![\w/-]|\.\w)/;

export type MarkedLine = {
  readonly line: string;
  readonly reasons: readonly string[];
  /** Whether something stands out: a person must agree to it before it is adopted. */
  readonly isStriking: boolean;
};

/** The rules and other passages that a block gained, each with its marks. */
export const findMarkedLines = (before: string, after: string): MarkedLine[] =>
  newPiecesOf(before, after).map((line) => {
    const reasons = findMarks(line);
    return { line, reasons, isStriking: reasons[0] !== NEW };
  });

/** Commands that build, test, format or look, and so need nobody's eye. */
const USUAL = [
  /^(?:npm|pnpm|yarn|bun) (?:run [\w:-]+|test|lint|build|check|format|typecheck|dev|start|ci|add|install)\b/u,
  /^(?:(?:npx|pnpm|yarn|bunx|uv run|poetry run|bundle exec|python -m) )?(?:vitest|jest|tsc|eslint|prettier|biome|pytest|ruff|mypy|black|rspec|rubocop)\b/u,
  /^(?:cargo|go|dotnet|mvn|\.?\/?gradlew?|swift) (?:[\w-]+ )?(?:test|build|check|clippy|fmt|vet|format|verify|nextest)\b/u,
  /^(?:make|just|ninja|task|set|uv (?:add|sync))\b/u,
  /^git (?:status|diff|log|show|blame|add|commit|rebase|switch|restore|checkout|fetch|pull|bisect|mv)\b/u,
  /^(?:docker compose (?:up|ps|logs|down)|terraform (?:fmt|validate|plan)|rg|grep|ls|shfmt)\b/u,
];
/** What makes a usual command another one. */
const TURNED =
  /[|<>;&$~@]|:\/|(?:^| )-{1,2}(?:u|y|f|k|yes|force|no-|skip|ignore|allow|unsafe|insecure|privileged|pass-?with|exclude|admin|author|amend|update|registry|index)/u;
/** A program in small letters and what it gets; not `camelCase: value`, a sentence or a list of names. */
const COMMAND =
  /^(?:[a-z_]{2,40}=\S{0,80} )*(?:\.?\/)?[a-z][\w./-]{0,40} +(?:-{1,2}\w|[~./$"'<@\w][^\s,]{0,80}(?: |$))/u;
const SHELL = /^[|>]|\$\(|&& |\|\| | \| |;/u;

const isUnusual = (code: string) =>
  (COMMAND.test(code) || SHELL.test(code)) && !(USUAL.some((one) => one.test(code)) && !TURNED.test(code));

const SPANS = /(?<!```)```[^\n]*\n([\s\S]*?)(?:\n[ \t]*```|$)|`([^`\n]{1,400})`/gu;

/** Whether a sentence has a command that does more than build, test, format or look, and does not forbid it. */
const hasUnusualCommand = (sentence: string): boolean =>
  FLAG.test(sentence.replace(SPANS, ' ')) ||
  [...sentence.matchAll(SPANS)].some(({ 0: whole, 1: fence, 2: span = '', index }) => {
    const lines = fence?.split('\n') ?? [span];
    return lines.some((code) => isUnusual(code.trim())) && !isForbidden(sentence, index, whole.length);
  });
const FLAG = /\s-{1,2}[a-z]/u;

const setOf = (words: string) => new Set(words.split(' '));
const ENGLISH = setOf(
  'the a an and or not no of to in on at by for from with is are be as it its this that if when before after never use only all any each every must should may you your i me my we they what which also more most first own',
);
const FOREIGN = setOf(
  'der die das und nicht mit für auf ist ein eine den im zu nur nie ohne le la les et des une un du pas est dans pour avec el los las y en del con para por que se il lo di che non um uma com não em os het een niet van voor och att inte som er og ikke til det ve bir için nie się oraz',
);

/** Whether a sentence is in a language that is not read here. Code and names do not count. */
function isForeign(sentence: string): boolean {
  const prose = sentence.replace(/`[^`\n]{1,400}`|```[\s\S]*/gu, ' ');
  const letters = prose.match(/\p{L}/gu)?.length ?? 0;
  const latin = prose.match(/\p{Script=Latin}/gu)?.length ?? 0;
  if (letters - latin >= 3 && letters - latin > letters / 5) return true;
  const words = prose.match(/(?<![\w./-])\p{L}[\p{L}']*(?![\w/-]|\.\w)/gu) ?? [];
  const count = (known: ReadonlySet<string>) => words.filter((word) => known.has(word)).length;
  return count(FOREIGN) > count(ENGLISH);
}
