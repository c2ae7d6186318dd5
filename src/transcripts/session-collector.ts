import type { SessionDigest } from './session-digest.ts';

/** When something was said: ISO 8601 with an offset or `Z`, or milliseconds. What cannot be read is not known. */
export type Moment = string | number | undefined;

/**
 * Takes a session's records in their order and makes the digest: the one place where every source's texts are filtered,
 * redacted, shortened and counted.
 */
export interface SessionCollector {
  /** The first one counts, except for `project` where the source says otherwise. */
  about(facts: { readonly sessionId?: string; readonly project?: string; readonly gitBranch?: string }): void;
  /** A record's time, also of one that is not kept. */
  at(moment: Moment): void;
  userSaid(text: string, moment?: Moment): void;
  assistantSaid(text: string, moment?: Moment): void;
  usedTool(name: string): void;
  usedSkill(name: string): void;
  touchedFile(path: string): void;
  /** What the agent's own records say of success, such as `neg:cursor_turn_error`. */
  signal(feedback: string): void;
  /** The session is of a sub-agent or of ourselves: nothing is learned from it. */
  leaveOut(why: NonNullable<SessionDigest['leftOut']>): void;
  /** `undefined`: nothing was said in it. */
  digest(): SessionDigest | undefined;
}
