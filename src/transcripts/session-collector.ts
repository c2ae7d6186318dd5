import { feedbackReader } from './filters/feedback.ts';
import {
  askedNotToLearn,
  isAgentSession,
  isHeadless,
  isOwnFolder,
  isOwnPrompt,
  loadedSkill,
  promptOf,
  skillName,
} from './filters/filters.ts';
import type { JsonObject } from './read/json.ts';
import { type LineFile, readRecords } from './read/lines.ts';
import {
  keptName,
  keptPath,
  keptText,
  type LeftOut,
  type Moment,
  type Place,
  type ReadOptions,
  type ReadOutcome,
  type Redact,
  realPath,
  type SessionDigest,
  type TranscriptFile,
  toUtc,
} from './transcript-source.ts';

/**
 * Takes a session's records in their order and makes the digest: the one place where every source's texts are filtered,
 * redacted, shortened and counted.
 */
export interface SessionCollector {
  /** Of each, the first one that is not empty counts. */
  about(facts: { readonly sessionId?: string; readonly project?: string; readonly gitBranch?: string }): void;
  /** A record's time, also of one that is not kept. */
  at(moment: Moment): void;
  userSaid(text: string, moment?: Moment): void;
  assistantSaid(text: string, moment?: Moment): void;
  /** What the tool was given is looked at for a skill that it loads, and not kept. */
  usedTool(name: string, input?: unknown): void;
  usedSkill(name: string): void;
  touchedFile(path: string): void;
  /** What the agent's own records say of success, such as `neg:cursor_turn_error`. */
  signal(feedback: string): void;
  /** The session is of a sub-agent or of ourselves: nothing is learned from it. */
  leaveOut(why: LeftOut): void;
  /** `undefined`: nothing was said in it. */
  digest(): SessionDigest | undefined;
}

type SessionStart = {
  readonly source: string;
  readonly rawPath: string;
  readonly place: Place;
  readonly redact?: Redact | undefined;
  /** The digest of the same session up to where it was read: it continues there. */
  readonly before?: SessionDigest | undefined;
};

/** The first half and the last half of this many prompts are kept: how it began, and how it ended. */
const MAX_PROMPTS = 40;
const MAX_FINALS = 5;
const MAX_SIGNALS = 40;
const MAX_NAMES = 100;

export function collectSession(start: SessionStart): SessionCollector {
  const { place, redact = (text) => text } = start;
  const digest = start.before === undefined ? emptyDigest(start) : continued(start.before);
  const feedbackIn = feedbackReader(place.env);
  const at = (moment: Moment) => {
    const utc = toUtc(moment);
    if (utc === '') return;
    if (digest.startedAt === '' || utc < digest.startedAt) digest.startedAt = utc;
    if (utc > digest.endedAt) digest.endedAt = utc;
  };
  const leaveOut = (why: LeftOut) => {
    digest.leftOut ??= why;
  };
  const signal = (feedback: string) => {
    const others = digest.feedbackSignals.filter((earlier) => earlier !== feedback);
    digest.feedbackSignals = [...others, feedback].slice(-MAX_SIGNALS);
  };
  const usedSkill = (name: string) => addName(digest.skillsUsed, skillName(keptName(name, redact)));
  return {
    at,
    leaveOut,
    signal,
    about({ sessionId = '', project = '', gitBranch = '' }) {
      digest.sessionId ||= keptName(sessionId, redact);
      if (digest.project === '' && project !== '') digest.folder = realPath(project);
      digest.project ||= keptPath(project, place, redact);
      digest.gitBranch ||= keptName(gitBranch, redact);
      if (isOwnFolder(project)) leaveOut('own-call');
    },
    userSaid(text, moment) {
      at(moment);
      if (isOwnPrompt(text)) leaveOut('own-call');
      if (askedNotToLearn(text)) leaveOut('asked-not-to');
      const prompt = promptOf(text);
      if (prompt === '') return;
      if (digest.nUserTurns === 0 && isAgentSession(prompt, place.env)) leaveOut('sub-agent');
      if (digest.nUserTurns > 0) for (const feedback of feedbackIn(prompt)) signal(feedback);
      digest.nUserTurns += 1;
      digest.userPrompts = withoutMiddle([...digest.userPrompts, keptText(prompt, redact)]);
    },
    assistantSaid(text, moment) {
      at(moment);
      if (text.trim() === '') return;
      digest.nAssistantTurns += 1;
      digest.assistantFinals = [...digest.assistantFinals, keptText(text, redact)].slice(-MAX_FINALS);
    },
    usedTool(name, input) {
      addName(digest.toolsUsed, keptName(name, redact).replace(/[^\p{L}\p{N}_.:/@-]/gu, '_'));
      usedSkill(loadedSkill(name, input));
    },
    usedSkill,
    touchedFile: (path) => addName(digest.filesTouched, keptPath(path, place, redact)),
    digest() {
      if (digest.nUserTurns === 0 && digest.nAssistantTurns === 0) return undefined;
      const leftOut = digest.leftOut ?? whyNothing(digest);
      return { ...copyOf(digest), ...(leftOut && { leftOut }) };
    },
  };
}

const emptyDigest = ({ source, rawPath, place, redact = (text) => text }: SessionStart): SessionDigest => ({
  source,
  sessionId: '',
  project: '',
  gitBranch: '',
  startedAt: '',
  endedAt: '',
  userPrompts: [],
  assistantFinals: [],
  toolsUsed: [],
  skillsUsed: [],
  filesTouched: [],
  feedbackSignals: [],
  nUserTurns: 0,
  nAssistantTurns: 0,
  rawPath: keptPath(rawPath, place, redact),
});

/** Names are added in place; all else is replaced. */
const copyOf = (digest: SessionDigest): SessionDigest => ({
  ...digest,
  toolsUsed: [...digest.toolsUsed],
  skillsUsed: [...digest.skillsUsed],
  filesTouched: [...digest.filesTouched],
});

/** Reasons that a longer session may no longer have. */
const PASSING: readonly (LeftOut | undefined)[] = ['no-prompt', 'headless'];

function continued(before: SessionDigest): SessionDigest {
  const { leftOut, ...rest } = copyOf(before);
  return PASSING.includes(leftOut) ? rest : { ...rest, leftOut };
}

function whyNothing(digest: SessionDigest): LeftOut | undefined {
  if (digest.nUserTurns === 0) return 'no-prompt';
  return isHeadless(digest) ? 'headless' : undefined;
}

function withoutMiddle(prompts: readonly string[]): string[] {
  return prompts.filter((_, index) => prompts.length <= MAX_PROMPTS || index !== MAX_PROMPTS / 2);
}

/** In the order in which they came, each once. */
function addName(names: string[], name: string): void {
  if (name !== '' && names.length < MAX_NAMES && !names.includes(name)) names.push(name);
}

type SessionFile = {
  readonly source: string;
  readonly file: TranscriptFile;
  readonly options: ReadOptions;
  readonly wanted?: LineFile['wanted'];
  /**
   * Whether a record says all there is to know, so that a file that grew is read from where it ended. Not so where a later
   * record changes an earlier one: such a file is read again.
   */
  readonly canContinue: boolean;
};

/** A file of lines that holds one session. `take` puts each record into the session; `end` is called after the last one. */
export async function readSession(
  { source, file, options, wanted, canContinue }: SessionFile,
  take: (record: JsonObject, session: SessionCollector) => void,
  end: (session: SessionCollector) => void = () => {},
): Promise<ReadOutcome> {
  const { place, redact, signal } = options;
  const before = canContinue ? knownBeginning(file, options.before) : undefined;
  const session = collectSession({ source, rawPath: file.path, place, redact, before: before?.sessions[0] });
  const lines = { path: file.path, from: before?.position, wanted, signal };
  const { position, trouble } = await readRecords(lines, (record) => take(record, session));
  end(session);
  const digest = session.digest();
  // Where nothing was said yet, what is known of the session would be lost: the file is then read from its beginning again.
  return digest === undefined ? { position: 0, sessions: [], trouble } : { position, sessions: [digest], trouble };
}

/** A file that is shorter than before, or of which nothing is kept, is another one. */
function knownBeginning(file: TranscriptFile, before: ReadOptions['before']): ReadOptions['before'] {
  return before !== undefined && before.sessions.length === 1 && before.position <= file.size ? before : undefined;
}
