import { OWN_CALL_FOLDER, OWN_CALL_SENTINEL } from '../../core/contracts/index.ts';
import { objectOf, textOf } from '../read/json.ts';
import { ownCopy, type Place, type SessionDigest } from '../transcript-source.ts';

/** Phrases with `|` between them. */
export const listOfPhrases = (phrases: string): readonly string[] => phrases.split('|').map((phrase) => phrase.trim());

/** Agents put these tags, with all that is in them, into a user's message. */
const NOTICE_TAGS = listOfPhrases(`
  system-reminder | system_reminder | environment_context | environment_details | user_instructions |
  codex_internal_context | turn_aborted | user_shell_command | permissions instructions | local-command-stdout |
  local-command-stderr | local-command-caveat | bash-input | bash-stdout | bash-stderr | ide_opened_file | ide_selection |
  ide_diagnostics | task-notification | user-prompt-submit-hook | session_context | attached_files | reminderInstructions
`);

/** Messages that begin with these were not typed by a person. */
const NOTICE_STARTS = [
  '[Pasted text', // a marker, its text is elsewhere
  'Caveat:',
  '# /',
  '[Request interrupted by user',
  'This session is being continued from a previous conversation',
  'The conversation history before this point was compacted',
  'Another language model started to solve this problem',
  'Your task is to create a detailed summary of the conversation',
  'First, reason in your scratchpad. Then, generate the <state_snapshot>',
  'Base directory for this skill:',
  '[SYSTEM NOTIFICATION',
  'Stop hook feedback:',
];

const COMMAND_TAG = /<command-(?:message|name)>/;
const COMMAND_TAG_WITHIN = 200;

/** What a person asked for, without what agents add. Empty if nobody asked for anything. */
export function promptOf(text: string): string {
  const prompt = (text.includes('<') ? NOTICE_TAGS.reduce(withoutTag, text) : text).trim();
  return isMeta(prompt) ? '' : prompt;
}

function isMeta(prompt: string): boolean {
  if (prompt === '' || (prompt.startsWith('<') && prompt.endsWith('>'))) return true;
  if (prompt.startsWith('/') && prompt.slice(0, 1_000).split(/\s+/).length <= 3) return true;
  return (
    NOTICE_STARTS.some((start) => prompt.startsWith(start)) || COMMAND_TAG.test(prompt.slice(0, COMMAND_TAG_WITHIN))
  );
}

/** Removes all that lies between an opening tag and the next closing one. A person wrote a tag that is never closed. */
function withoutTag(text: string, tag: string): string {
  const kept: string[] = [];
  let from = 0;
  for (;;) {
    const opening = openingOf(text, tag, from);
    const closing = opening === -1 ? -1 : text.indexOf(`</${tag}>`, opening);
    if (closing === -1) return from === 0 ? text : ownCopy([...kept, text.slice(from)].join(''));
    kept.push(text.slice(from, opening));
    from = closing + tag.length + 3;
  }
}

/** Skips tags whose names only begin with this one. */
function openingOf(text: string, tag: string, from: number): number {
  const opening = `<${tag}`;
  let at = text.indexOf(opening, from);
  while (at !== -1 && !' >'.includes(text.charAt(at + opening.length))) at = text.indexOf(opening, at + 1);
  return at;
}

/** Tools that load a skill by its name: of Claude Code, Gemini CLI, and several others. */
const SKILL_TOOLS = ['Skill', 'skill', 'activate_skill'];
/** Agents without such a tool read the file. */
const SKILL_FILE = /(?:^|[\\/"'\s])skills?[\\/]+([\p{L}\p{N}][\p{L}\p{N}._-]{0,63})[\\/]+SKILL\.md/u;
const MAX_INPUT_LENGTH = 4_000;

export function loadedSkill(tool: string, input: unknown): string {
  if (SKILL_TOOLS.includes(tool)) {
    const { skill, name, command } = objectOf(input);
    return textOf(skill) || textOf(name) || textOf(command);
  }
  // Short values are commands and paths. A longer one is the content of a file.
  const isShort = (value: unknown) => typeof value === 'string' && value.length < 1_000;
  const text = typeof input === 'string' ? input : Object.values(objectOf(input)).filter(isShort).join('\n');
  return SKILL_FILE.exec(text.slice(0, MAX_INPUT_LENGTH))?.[1] ?? '';
}

/** A plugin's skill is called `plugin:skill`. The folder has the last part of the name. */
export const skillName = (name: string) => name.slice(name.lastIndexOf(':') + 1).trim();

const OWN_FOLDER = new RegExp(`(?:^|[\\\\/-])${OWN_CALL_FOLDER}[A-Za-z0-9]`);
/** Whether an agent worked for us there. The path may also be a name that an agent made from it, such as `-tmp-…-work`. */
export const isOwnFolder = (path: string) => OWN_FOLDER.test(path);

/** A heading and then one of our fences: only our stages and judges write prompts this way. */
const FENCED_SECTION = /^## [^\n]{1,80}\n{1,2}<[a-z_-]{2,30}-[0-9a-f]{8}>\n/;

export function isOwnPrompt(text: string): boolean {
  const opening = text.trimStart().slice(0, 300);
  const hasSentinel = /^<[a-z]{1,20} /.test(opening) && opening.includes(`${OWN_CALL_SENTINEL}>`);
  return hasSentinel || FENCED_SECTION.test(opening);
}

const AGENT_PREAMBLES = [
  'you are a subagent',
  'you are a sub-agent',
  'you are an autonomous agent',
  'you are a background agent',
];

/** Whether a program wrote the first prompt of a session. `SKILLOPT_SLEEP_AGENT_MARKERS` adds phrases. */
export function isAgentSession(firstPrompt: string, env: Place['env']): boolean {
  const opening = firstPrompt.slice(0, 2_000).toLowerCase();
  const marks = [...AGENT_PREAMBLES, ...phraseList(env.SKILLOPT_SLEEP_AGENT_MARKERS)];
  return marks.some((mark) => opening.includes(mark));
}

export function phraseList(list: string | undefined): readonly string[] {
  const phrases = (list ?? '').split(',').map((phrase) => phrase.trim().toLowerCase());
  return phrases.filter((phrase) => phrase !== '');
}

const SHORT_LENGTH = 200;
const QUICK_SECONDS = 3;

/** Whether a program seems to have asked: one short prompt, answered within seconds. Without times it was a person. */
export function isHeadless({ nUserTurns, userPrompts, startedAt, endedAt }: SessionDigest): boolean {
  if (nUserTurns !== 1) return nUserTurns === 0;
  if (startedAt === '' || endedAt === '') return false;
  const seconds = toSeconds(endedAt) - toSeconds(startedAt);
  return Array.from(userPrompts.join('')).length < SHORT_LENGTH && seconds < QUICK_SECONDS;
}

const toSeconds = (utc: string) => Math.floor(Date.parse(utc) / 1000);

/** Nothing is learned from a session with one of these in a prompt. `docs/sleep-privacy.md` describes the English ones. */
const NOT_TO_LEARN = new RegExp(
  [
    String.raw`\b(?:don't|dont|do not|never|please don't|must not|should not|shouldn't|mustn't|may not) (?:ever )?(?:learn|train|remember|memorize|memorise|take lessons) (?:anything |something )?(?:from |on |about |of )?(?:any of )?(?:this|that|these|here|it\b|our (?:chat|conversation|session)|the (?:chat|conversation|session)|my (?:chat|session|code|data|words))`,
    String.raw`\b(?:don't|dont|do not|never) use (?:this|that|the|our|my)(?: \w+)? (?:for|to) (?:learn|train)`,
    String.raw`\b(?:learn|train) (?:nothing|on nothing) from (?:this|that|here|it\b|our|the|my)`,
    String.raw`\bno (?:learning|training) (?:from|on|with) (?:this|that|our|the|my)`,
    String.raw`\bnot (?:for|meant for|to be used for) (?:learning|training)\b`,
    String.raw`\b(?:keep|leave) (?:this|that|this session|this chat|this conversation) out of (?:the |your |any )?(?:learning|training|skill|memory)`,
    String.raw`\b(?:forget|ignore) this (?:session|chat|conversation)(?= *(?:$|[.,;!?)]|for (?:learn|train)|when (?:learn|train)|please))`,
    String.raw`\b(?:this|that) (?:is|stays) off the record\b`,
    String.raw`(?:^|[^\w&])#no-?(?:learn|train)(?:ing)?\b`,
    String.raw`\bskillopt: ?ignore\b`,
  ].join('|'),
);

const NOT_TO_LEARN_PHRASES = listOfPhrases(`
  lerne das nicht | lerne dies nicht | lern das nicht | lerne nicht daraus | lerne nichts daraus |
  nicht daraus lernen | nichts daraus lernen | hieraus nichts lernen | hieraus nicht lernen |
  hieraus bitte nicht | davon nichts lernen | nicht zum lernen | nicht zum trainieren | merk dir das nicht |
  merke dir das nicht | n'apprends pas ça | n'apprends pas cela | n'apprends rien de | n'apprenez pas |
  ne retiens pas ceci | n'apprends pas de | ne retiens rien de | no aprendas esto | no aprendas de esto |
  no aprendas eso | no aprendas nada de | no recuerdes esto | não aprenda isso | não aprenda com isso |
  não aprendas isto | non imparare questo | non imparare da questo | 不要学习这 | 不要从中学习 | 不要學習這 | 别学这 | 別學這 |
  学習しないで | 学ばないで | 覚えないで | 학습하지 마
`);

/** A part of each of them. Most texts have none of these parts and need no further search. */
const STEM =
  /[Ll](?:earn|ern|EARN|ERN)|[Tt](?:rain|RAIN)|[Rr]emember|REMEMBER|[Mm]emori|[Ff]orget this|[Ii]gnore this|off the record|[Mm]erke? dir|[Rr]ecuerd|[Aa]ppren|[Rr]etiens|[Aa]prend|[Ii]mparar|[Ss]killopt: ?|[学學覚]|학습/;

/** In a long text, a person's own words stand before or after what was pasted. */
const EDGE_LENGTH = 2_000;

/** Commands and notices count too. Code and quotations do not: others wrote them. */
export function askedNotToLearn(text: string): boolean {
  const isLong = text.length > 2 * EDGE_LENGTH;
  const edges = isLong ? `${text.slice(0, EDGE_LENGTH)}\n${text.slice(-EDGE_LENGTH)}` : text;
  if (!STEM.test(edges)) return false;
  const own = edges.replace(QUOTED, ' ');
  const plain = own.toLowerCase().replaceAll('’', "'").replace(/\s+/g, ' ');
  return NOT_TO_LEARN.test(plain) || NOT_TO_LEARN_PHRASES.some((phrase) => plain.includes(phrase));
}

/** Code, lines that are quoted, and words in quotes. */
const QUOTED =
  /```[^`]*(?:```|$)|`[^`\n]*`|^[ \t]*>.*$|"[^"\n]{0,200}"|“[^”\n]{0,200}”|«[^»\n]{0,200}»|„[^“\n]{0,200}“/gm;
