import { newPiecesOf } from '../../document/index.ts';
import { findPoison } from './find-poison.ts';
import { ADDRESS } from './harms.ts';
import { findSaid, isForbidden, MOST_CHARACTERS, plainOf, sentencesOf, type Wanted } from './sentences.ts';

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

/** A subject that a person should look at before a rule is adopted. The reason is read after «this line». */
type Sign = Wanted & { readonly reason: string };

const deed = (reason: string, ...all: readonly RegExp[]): Sign => ({ reason, all });
const always = (reason: string, ...all: readonly RegExp[]): Sign => ({ reason, all, isForbidding: true });
const anyOf = (...alternatives: readonly string[]) => new RegExp(`\\b(?:${alternatives.join('|')})\\b`, 'u');

const FILE_ELSEWHERE =
  /(?<![\w.])(?:~|\$home|%userprofile%|\.\.)\/|(?:^|[\s`'"(=])\/(?:etc|usr|var|tmp|home|root|opt|bin|dev|srv)\b|\b[a-z]:\\/u;
const HIDDEN_FILE =
  /\.(?:env\b(?!\.(?:ex|sam|tem))|(?:npmrc|ssh|aws|bashrc|zshrc|netrc|gitconfig|kube|claude|git\/)\b)/u;

const CHECK = anyOf(
  'checks?|tests?|suites?|reviews?|remarks|approvals?|audits?|scan\\w*|lint\\w*|warnings?|alarms?|alerts?|limits?|thresholds?',
  'coverage|assertions?|signatures?|hash(?:es)?|hooks?|polic(?:y|ies)|permissions?|validation|verification|errors?|exceptions?',
  'failures?|failing|fails?|findings|mismatch\\w*|ci|pipelines?|timeouts?|snapshots?|expected',
);
const RELAX = anyOf(
  'skip\\w*|bypass\\w*|ignor\\w+|pass over|accept(?:s|ed)?|allow(?:s|ed)?|trust|waive|exempt|loosen|relax|lower|raise|weaken|disabl\\w+',
  'remov\\w+|delet\\w+|drop|silenc\\w+|mute|suppress|swallow\\w*|optional|unnecessary|not needed|need(?:s|ed)? no|(?:switch|turn)\\w* off',
  'too (?:strict|slow|noisy)|noise|regardless|anyway|all the same|counts? as|treat\\w*|auto-?\\w+|regenerate|re-?run|retry|to 0|as skipped',
);

/** Few and wide. What none of them names still has the weakest mark: it is new. */
export const SIGNS: readonly Sign[] = [
  always('names a network address', ADDRESS),
  always('names a file elsewhere', FILE_ELSEWHERE),
  deed('names a file elsewhere', HIDDEN_FILE),
  always(
    'changes what people hear',
    /\b(?:do not|don't|never|not|no need to|without|rather than|stop|nobody|nothing|no)\b(?: \w+){0,2} (?:mention|tell|told|report|inform|notify|warn|bring|escalate|ask|wait|bother)(?:s|ing)?\b(?! me)/u,
  ),
  always(
    'changes what people hear',
    anyOf(
      'quietly|silently|secretly|unnoticed|hid(?:e|den|ing)|conceal\\w*|pretend|invent\\w*|made up|upbeat|reassur\\w+|downplay|omit',
      '(?:if|when|unless|until|whoever|should)\\b[^.;]{0,30}\\b(?:asks?|asked|wonders?|complains?|notices?)|twice|(?:say|answer|reply) that (?:was|it|all|every\\w*|no\\w*|there)',
      '(?:say|state|write|report|describe|present|label|call|commit|log|mark|book|name)\\w*\\b[^.;]{0,50}\\b(?:as|that|is|are|it) .{0,12}\\b(?:done|fine|finished|pass\\w*|tested|reviewed|approved|formatting|routine|minor|official|measured|planned)',
      'out of (?:what|the (?:summary|report|answer|log))|leave[^.;]{0,40}\\bout|not cited|as (?:the )?usual',
    ),
  ),
  deed('relaxes a check', RELAX, CHECK),
  always(
    'relaxes a check',
    /\b(?:do not|don't|never|no|without|stop|skip|avoid|no need (?:to|for))(?: (?:the|a|any|more|run|running|require))? (?:check|test(?!s? (?:data|id))|verif|validat|hash|encrypt|escap|saniti|sign|review|back|limit|confirm|restrict|lock|scan|audit|approv)\w*/u,
  ),
  deed(
    'speaks of secrets or security',
    anyOf(
      'secrets?|credentials?|passwords?|tokens?|(?:api|access|private|ssh|deploy|signing) keys?|cookies?|auth\\w*|log-?ins?|cors|csrf|tls|ssl',
      'certificates?|encrypt\\w*|hash\\w*|md5|sha-?1|jwts?|oauth|iam|sandbox\\w*|saniti[sz]\\w+|escap(?:e|es|ed|ing)|injection|sql|eval',
      'vulnerab\\w+|security|insecure|personal data|open ports?|math\\.random|privileged|debug|plain ?text|user input',
    ),
  ),
  deed('speaks of secrets or security', /(?<![=!])==(?!=)/u),
  deed(
    'gives access or approval',
    anyOf(
      'approv\\w+|admins?|administrators?|sudo|as root|grant\\w*|access|permissions?|accounts?|invite|trusted|first, |straight to|right away|at once',
      'whoever|anyone|on your own|yourself|freely|by (?:the )?(?:users?|person|group)|from (?:the )?(?:users?|group|company)',
    ),
  ),
  always(
    'instructs agents or itself',
    anyOf(
      'agents?|assistants?|bots?|language models?|instructions?|system prompt|(?:each|every|next|later) sessions?|memory|skills?|mcp',
      'from now on|this (?:rule|section|line|note|paragraph)|contradicts?|(?:claude|gemini|skill|memory)\\.md',
    ),
  ),
  deed('deletes or overwrites something', /\b(?:delet|eras|wip|remov|destroy|purg|overwrit|truncat|reset|prun)\w*\b/u),
  deed(
    'brings in foreign code',
    anyOf(
      'install\\w*|upgrade|download\\w*|clone|vendor|plugins?|extensions?|dependenc(?:y|ies)|registr(?:y|ies)|mirrors?|forks?',
      'lock ?files?|cdn|latest|newest|nightly|unpinned|(?:add|use|take|prefer) [^.;]{0,30}\\bpackages?',
    ),
  ),
  deed(
    'works by itself',
    anyOf(
      'cron\\w*|daily|nightly|weekly|hourly|background|daemon|git hooks?|start-?up|every (?:day|hour|morning|start)|(?:ten|five|\\d+) minutes',
    ),
  ),
  deed(
    'sends or records something',
    /\b(?:send|upload|forward|e-?mail|attach|record|track|monitor|watch|collect|mirror|bcc|push)(?:s|es|ing|ed)?\b/u,
  ),
];

/** «Ask me first»: the person has a say, so a deed needs no mark. */
const ASKS =
  /\b(?:ask (?:me|first|before)|show me|tell me|let me|(?:for|needs?|wait for) my|say (?:so|which|why)|find out why)\b/u;

const signsOf = (sentence: string) =>
  SIGNS.filter((sign) => (sign.isForbidding || !ASKS.test(sentence)) && findSaid(sign, sentence) !== undefined).map(
    ({ reason }) => reason,
  );

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
