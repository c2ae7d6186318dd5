import { z } from 'zod';

const texts = z.array(z.string()).default([]);

/**
 * What is kept of a session between a person and a coding agent. Redacted: no secret, no path of a home, no argument and no
 * output of a tool, no reasoning. Every text in it is data of somebody else, never a path to open or an instruction.
 */
export const SessionDigest = z.object({
  /** Which agent: the name of a source. */
  source: z.string(),
  sessionId: z.string(),
  /** The folder that the agent worked in, `~/…` below the home, `~[user]/…` below another's. Empty: not known. */
  project: z.string().default(''),
  /** The real path of it, by which a session is found and left out. Kept in the private index alone: never shown, never sent. */
  folder: z.string().optional(),
  gitBranch: z.string().default(''),
  /** In UTC, as `2026-01-31T22:10:05.000Z`. Empty: not known. */
  startedAt: z.string().default(''),
  endedAt: z.string().default(''),
  /** What the person asked, without commands and notices. */
  userPrompts: texts,
  /** The agent's last texts, at most five. */
  assistantFinals: texts,
  toolsUsed: texts,
  skillsUsed: texts,
  filesTouched: texts,
  /** `pos:…` and `neg:…`, in the order in which they were said. */
  feedbackSignals: texts,
  nUserTurns: z.number().int().nonnegative().default(0),
  nAssistantTurns: z.number().int().nonnegative().default(0),
  /** Where it was read, for people. */
  rawPath: z.string().default(''),
  /** Why nothing is learned from it, if so. */
  leftOut: z.enum(['no-prompt', 'own-call', 'sub-agent', 'headless', 'asked-not-to']).optional(),
});
export type SessionDigest = z.infer<typeof SessionDigest>;
export type LeftOut = NonNullable<SessionDigest['leftOut']>;
