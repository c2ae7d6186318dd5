import { ADDRESS } from './harms.ts';
import type { Wanted } from './sentences.ts';

/** A subject that a person should look at before a rule is adopted. The reason is read after «this line». */
export type Sign = Wanted & { readonly reason: string };

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

/** Few and wide. What none of them names still has the weakest mark unless it is plain advice. */
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
export const ASKS =
  /\b(?:ask (?:me|first|before)|show me|tell me|let me|(?:for|needs?|wait for) my|say (?:so|which|why)|find out why)\b/u;
