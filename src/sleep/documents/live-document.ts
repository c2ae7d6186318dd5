import { type ReadDocument, readDocument } from '../../skills/index.ts';
import { textOf } from '../staging/stage.ts';

/** A document as it is on disk, or as it would begin. */
export type LiveDocument = {
  readonly kind: 'skill' | 'memory';
  readonly name: string;
  /** Of a document that is not there yet: what it begins with. */
  readonly text: string;
  readonly live: ReadDocument;
  /** The folders in which it may be written. */
  readonly roots: readonly string[];
  /** Whether it may be made where there is none. */
  readonly isNewAllowed: boolean;
  /** Of an existing skill that is trained because tasks name it: the hints by which they do. */
  readonly hints?: readonly string[] | undefined;
};

type Wanted = Omit<LiveDocument, 'text' | 'live'> & { readonly path: string; readonly scaffold?: string };

/** Reads a document with every link resolved once. What could not be replaced in the morning is refused in the evening. */
export async function readLive({ path, scaffold = '', ...wanted }: Wanted): Promise<LiveDocument> {
  const live = await readDocument(path, wanted.roots);
  return { ...wanted, live, text: live.bytes === null ? scaffold : textOf(live.bytes, path) };
}

/** How a skill of our own begins. */
export const scaffoldOf = (name: string) => `---
name: ${name}
description: How this person likes things done, as learned from their own sessions. Read it before any task.
---

# Learned from your sessions

Short rules that proved themselves on your own tasks.
`;
