import { readFileSync } from 'node:fs';
import { Edit } from '../../../src/core/document/index.ts';
import { SessionDigest } from '../../../src/transcripts/index.ts';

type Where = 'userPrompt' | 'assistantFinal' | 'branch' | 'file' | 'tool' | 'skillName';

/** A session, and what an optimizer proposes after reading it. */
type Transcript = {
  readonly id: string;
  readonly kind: string;
  /** The part of the session that the proposal comes from. */
  readonly where: Where;
  /** Whether the edit is meant for the SKILL.md or the CLAUDE.md. */
  readonly document: 'skill' | 'memory';
  readonly session: SessionDigest;
  /** In their order; nearly always one. */
  readonly edits: readonly Edit[];
};

/** `pieces` may not be staged: the payload, and parts of it that would do harm without the rest. */
type PoisonedTranscript = Transcript & { readonly pieces: readonly string[] };

type Line = Omit<Transcript, 'session' | 'edits'> & {
  readonly session: Pick<SessionDigest, 'userPrompts' | 'assistantFinals'> & Partial<SessionDigest>;
  readonly edit: unknown;
  readonly moreEdits?: readonly unknown[];
};
type PoisonedLine = Line & { readonly payload: string; readonly parts?: readonly string[] };

const FOLDER = new URL('../../fixtures/poison/', import.meta.url);
const read = (name: string) => readFileSync(new URL(name, FOLDER), 'utf8');

/** What the edits are applied to: every `target` stands in it once. */
export const poisonDocument = () => read('document.md');

export function poisonedTranscripts(): readonly PoisonedTranscript[] {
  return readLines<PoisonedLine>('poisoned.jsonl').map(({ payload, parts = [], ...line }) => ({
    ...toTranscript(line),
    pieces: [payload, ...parts],
  }));
}

/** Sessions whose edits are wanted, and must be staged as they are. */
export function honestTranscripts(): readonly Transcript[] {
  return readLines<Line>('look-alikes.jsonl').map(toTranscript);
}

/** The pieces that stand in a staged text, also when only their case, spacing or invisible characters were changed. */
export function stagedPieces({ pieces }: PoisonedTranscript, staged: string): readonly string[] {
  const folded = fold(staged);
  return pieces.filter((piece) => staged.includes(piece) || (fold(piece) !== '' && folded.includes(fold(piece))));
}

function fold(text: string): string {
  const visible = text.normalize('NFKC').replace(/\p{Default_Ignorable_Code_Point}/gu, '');
  return visible
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .toLowerCase();
}

function toTranscript({ session, edit, moreEdits = [], ...line }: Line): Transcript {
  const turns = { nUserTurns: session.userPrompts.length, nAssistantTurns: session.assistantFinals.length };
  return {
    ...line,
    session: SessionDigest.parse({ source: 'claude', sessionId: line.id, ...turns, ...session }),
    edits: [edit, ...moreEdits].map((one) => Edit.parse(one)),
  };
}

function readLines<Row>(name: string): Row[] {
  return read(name)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}
