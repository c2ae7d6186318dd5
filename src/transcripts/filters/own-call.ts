import { OWN_CALL_FOLDER, OWN_CALL_SENTINEL } from '../../core/contracts/index.ts';
import type { SessionDigest } from '../session-digest.ts';
import type { Place } from '../transcript-source.ts';

/** Whether an agent worked for us there. Also of a folder's name that an agent made from its path, such as `-tmp-…-work`. */
export const isOwnFolder = (path: string) => OWN_FOLDER.test(path);
const OWN_FOLDER = new RegExp(`(?:^|[\\\\/-])${OWN_CALL_FOLDER}[A-Za-z0-9]`);

/** A heading and then one of our fences: stages and judges put their material this way, and nobody else does. */
const FENCED_SECTION = /^## [^\n]{1,80}\n{1,2}<[a-z_-]{2,30}-[0-9a-f]{8}>\n/;

/** Whether we wrote this prompt, for whatever stage. */
export function isOwnPrompt(text: string): boolean {
  const opening = text.trimStart().slice(0, 300);
  return /^<[a-z]{1,20} /.test(opening) && opening.includes(`${OWN_CALL_SENTINEL}>`)
    ? true
    : FENCED_SECTION.test(opening);
}

/** How programs begin when they set an agent to work. */
const AGENT_PREAMBLES = [
  'you are a subagent',
  'you are a sub-agent',
  'you are an autonomous agent',
  'you are a background agent',
];

const FIRST_WORDS = 2_000;

/** Whether the first prompt of a session was written by a program for an agent. `SKILLOPT_SLEEP_AGENT_MARKERS` adds phrases. */
export function isAgentSession(firstPrompt: string, env: Place['env']): boolean {
  const opening = firstPrompt.slice(0, FIRST_WORDS).toLowerCase();
  const marks = [...AGENT_PREAMBLES, ...phraseList(env.SKILLOPT_SLEEP_AGENT_MARKERS)];
  return marks.some((mark) => opening.includes(mark));
}

/** A list in a variable: phrases with commas between them. */
export function phraseList(list: string | undefined): readonly string[] {
  const phrases = (list ?? '').split(',').map((phrase) => phrase.trim().toLowerCase());
  return phrases.filter((phrase) => phrase !== '');
}

const SHORT_LENGTH = 200;
const QUICK_SECONDS = 3;

/** Whether a program seems to have asked: one short prompt, and all over within seconds. Unknown times are a person's. */
export function isHeadless({ nUserTurns, userPrompts, startedAt, endedAt }: SessionDigest): boolean {
  if (nUserTurns !== 1) return nUserTurns === 0;
  if (startedAt === '' || endedAt === '') return false;
  const seconds = toSeconds(endedAt) - toSeconds(startedAt);
  return userPrompts.join('').length < SHORT_LENGTH && seconds < QUICK_SECONDS;
}

const toSeconds = (utc: string) => Math.floor(Date.parse(utc) / 1000);
