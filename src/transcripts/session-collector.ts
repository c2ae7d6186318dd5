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
import { type JsonObject, listOf, objectOf, textOf } from './read/json.ts';
import { type LineFile, readRecords } from './read/lines.ts';
import {
  enoughOf,
  keptName,
  keptPath,
  keptText,
  type LeftOut,
  type Moment,
  type Place,
  type ReadOptions,
  type ReadOutcome,
  type ReadSoFar,
  type Redact,
  realPath,
  SessionDigest,
  type TranscriptFile,
  toUtc,
} from './transcript-source.ts';

type SessionStart = Pick<ReadOptions, 'place' | 'redact' | 'factsOnly'> & {
  readonly source: string;
  readonly rawPath: string;
  /** The digest of the part that was read before. */
  readonly soFar?: SessionDigest | undefined;
};

/** Half of the kept prompts are the first ones, and half are the last ones. */
const MAX_PROMPTS = 40;
const MAX_FINALS = 5;
const MAX_SIGNALS = 40;
const MAX_NAMES = 100;

const keepAll: Redact = (text) => text;

/** The one place where every source's texts are filtered, redacted, shortened and counted. Takes records in their order. */
export class SessionCollector {
  readonly #digest: SessionDigest;
  readonly #rawPath: string;
  readonly #factsOnly: boolean;
  /** As they are in the record. Most of them are dropped again, so only what stays is redacted, at the end. */
  #prompts: readonly string[] = [];
  #finals: readonly string[] = [];
  readonly #place: Place;
  readonly #redact: Redact;
  readonly #feedbackIn: ReturnType<typeof feedbackReader>;

  constructor({ source, rawPath, place, redact = keepAll, factsOnly = false, soFar }: SessionStart) {
    this.#rawPath = rawPath;
    this.#place = place;
    this.#redact = redact;
    this.#factsOnly = factsOnly;
    this.#feedbackIn = feedbackReader(place.env);
    this.#digest = copyOf(soFar ?? SessionDigest.parse({ source, sessionId: '' }));
  }

  about({ sessionId = '', project = '', gitBranch = '' }: SessionFacts): void {
    const digest = this.#digest;
    if (sessionId !== '') digest.sessionId ||= keptName(sessionId, this.#redact);
    if (gitBranch !== '') digest.gitBranch ||= keptName(gitBranch, this.#redact);
    if (project === '') return;
    if (digest.project === '') digest.folder = realPath(project);
    digest.project ||= keptPath(project, this.#place, this.#redact);
    if (isOwnFolder(project)) this.leaveOut('own-call');
  }

  /** The time of a record, even if nothing else of the record is kept. */
  at(moment: Moment): void {
    const utc = toUtc(moment);
    if (utc === '') return;
    if (this.#digest.startedAt === '' || utc < this.#digest.startedAt) this.#digest.startedAt = utc;
    if (utc > this.#digest.endedAt) this.#digest.endedAt = utc;
  }

  userSaid(text: string, moment?: Moment): void {
    const digest = this.#digest;
    this.at(moment);
    if (isOwnPrompt(text)) this.leaveOut('own-call');
    if (askedNotToLearn(text)) this.leaveOut('asked-not-to');
    const prompt = promptOf(text);
    if (prompt === '') return;
    if (digest.nUserTurns === 0 && isAgentSession(prompt, this.#place.env)) this.leaveOut('sub-agent');
    if (digest.nUserTurns > 0 && !this.#factsOnly)
      for (const feedback of this.#feedbackIn(prompt)) this.signal(feedback);
    digest.nUserTurns += 1;
    this.#prompts = withoutMiddle([...this.#prompts, enoughOf(prompt)]);
  }

  assistantSaid(text: string, moment?: Moment): void {
    this.at(moment);
    if (text.trim() === '') return;
    this.#digest.nAssistantTurns += 1;
    if (!this.#factsOnly) this.#finals = [...this.#finals, enoughOf(text)].slice(-MAX_FINALS);
  }

  /** The input is searched for a skill that the tool loads. It is not kept. */
  usedTool(name: string, input?: unknown): void {
    if (this.#factsOnly) return;
    addName(this.#digest.toolsUsed, keptName(name, this.#redact).replace(/[^\p{L}\p{N}_.:/@-]/gu, '_'));
    this.usedSkill(loadedSkill(name, input));
  }

  /** The `tool_use` blocks of a message. */
  usedToolsIn(content: unknown): void {
    for (const { type, name, input } of listOf(content).map(objectOf))
      if (type === 'tool_use') this.usedTool(textOf(name), input);
  }

  usedSkill(name: string): void {
    if (this.#factsOnly) return;
    addName(this.#digest.skillsUsed, skillName(keptName(name, this.#redact)));
  }

  touchedFile(path: string): void {
    if (this.#factsOnly) return;
    addName(this.#digest.filesTouched, keptPath(path, this.#place, this.#redact));
  }

  /** What the agent's own records say of success, such as `neg:cursor_turn_error`. */
  signal(feedback: string): void {
    const others = this.#digest.feedbackSignals.filter((earlier) => earlier !== feedback);
    this.#digest.feedbackSignals = [...others, feedback].slice(-MAX_SIGNALS);
  }

  /** Nothing is learned from the session, such as one of a sub-agent or of our own. */
  leaveOut(why: LeftOut): void {
    this.#digest.leftOut ??= why;
  }

  /** `undefined`: nothing was said in the session. */
  digest(): SessionDigest | undefined {
    const digest = this.#digest;
    if (digest.nUserTurns === 0 && digest.nAssistantTurns === 0) return undefined;
    const keptOf = (texts: readonly string[]) => texts.map((text) => keptText(text, this.#redact));
    const isAlone = digest.nUserTurns === 1; // then its length may show that a program asked
    if (!this.#factsOnly || isAlone) digest.userPrompts = keptOf(this.#prompts);
    if (!this.#factsOnly) {
      digest.assistantFinals = keptOf(this.#finals);
      digest.rawPath = keptPath(this.#rawPath, this.#place, this.#redact);
    }
    const leftOut = digest.leftOut ?? whyNothing(digest);
    return { ...copyOf(digest), ...(leftOut && { leftOut }) };
  }
}

type SessionFacts = { readonly sessionId?: string; readonly project?: string; readonly gitBranch?: string };

export function collectInto(start: SessionStart, fill: (session: SessionCollector) => void): SessionDigest[] {
  const session = new SessionCollector(start);
  fill(session);
  const digest = session.digest();
  return digest === undefined ? [] : [digest];
}

/** These lists change in place. All other fields are replaced. */
const copyOf = (digest: SessionDigest): SessionDigest => ({
  ...digest,
  toolsUsed: [...digest.toolsUsed],
  skillsUsed: [...digest.skillsUsed],
  filesTouched: [...digest.filesTouched],
});

function whyNothing(digest: SessionDigest): LeftOut | undefined {
  if (digest.nUserTurns === 0) return 'no-prompt';
  return isHeadless(digest) ? 'headless' : undefined;
}

function withoutMiddle(prompts: readonly string[]): readonly string[] {
  return prompts.filter((_, index) => prompts.length <= MAX_PROMPTS || index !== MAX_PROMPTS / 2);
}

function addName(names: string[], name: string): void {
  if (name !== '' && names.length < MAX_NAMES && !names.includes(name)) names.push(name);
}

type SessionFile = {
  readonly source: string;
  readonly file: TranscriptFile;
  readonly options: ReadOptions;
  readonly wanted?: LineFile['wanted'];
  /** Whether a file that grew is read from its old end. Not possible if later records change earlier ones. */
  readonly canContinue: boolean;
};

/** Reads a file of lines that holds one session. `take` gets each record, and `end` is called after the last one. */
export async function readSession(
  { source, file, options, wanted, canContinue }: SessionFile,
  take: (record: JsonObject, session: SessionCollector) => void,
  end: (session: SessionCollector) => void = () => {},
): Promise<ReadOutcome> {
  const before = canContinue ? continuable(file, options) : undefined;
  const session = new SessionCollector({ ...options, source, rawPath: file.path, soFar: before?.sessions[0] });
  const lines = { path: file.path, from: before?.position, wanted, signal: options.signal };
  const { position, trouble } = await readRecords(lines, (record) => take(record, session));
  end(session);
  const digest = session.digest();
  // If nothing was said yet, no digest keeps the facts of the session: the file is read again from its beginning.
  return digest === undefined ? { position: 0, sessions: [], trouble } : { position, sessions: [digest], trouble };
}

/** Texts are read whole. So is a session with at most one prompt: it may have been left out for a reason that passes. */
function continuable({ size }: TranscriptFile, { before, factsOnly }: ReadOptions): ReadSoFar | undefined {
  if (!factsOnly || before?.sessions.length !== 1 || before.sessions[0]!.nUserTurns < 2) return undefined;
  return before.position <= size ? before : undefined; // a shorter file is another one
}
