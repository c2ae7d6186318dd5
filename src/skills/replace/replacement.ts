import { createHash } from 'node:crypto';
import { z } from 'zod';
import { SkillError } from '../../core/contracts/index.ts';

/** What is to become of one file. */
export type Replacement = {
  /** Absolute. */
  readonly path: string;
  /** Where the path led when its bytes were read. One that leads elsewhere by now is refused. */
  readonly realPath?: string | undefined;
  /** SHA-256 of the bytes that are there; null: there is no file. */
  readonly expected: string | null;
  /** Null removes the file. */
  readonly bytes: Buffer | null;
  /** Whether its name need not be that of a Markdown file. */
  readonly isAnyFile?: boolean | undefined;
};

/** Points at which a crash or an edit by somebody else may come. */
export type Moment = 'checked' | 'journaled' | 'drafted' | 'replaced' | 'committed';

export type ReplaceOptions = {
  /** Private: journal, lock, and the old bytes of each transaction. Made if it is not there. */
  readonly journalFolder: string;
  /** Only what really lies in one of these folders is written. */
  readonly roots: readonly string[];
  /** Names the transaction, and its folder. */
  readonly id: string;
  readonly onMoment?: ((moment: Moment) => void | Promise<void>) | undefined;
};

/** After a swap, before the last look: an editor that had the old file open may be about to write into it. */
export const LINGER_MS = 20;

const digest = z.string().regex(/^[0-9a-f]{64}$/);

const Step = z.object({
  path: z.string(),
  realPath: z.string(),
  /** Device and inode of the folder; empty for one that is to be made. */
  folderId: z.string(),
  /** Folders to be made, outermost first. */
  newFolders: z.array(z.string()),
  before: digest.nullable(),
  after: digest.nullable(),
  mode: z.number().int().nullable(),
  /** The old bytes; null where there was no file. */
  backup: z.string().nullable(),
  /** Name of the file beside the live one that takes its place. */
  draft: z.string(),
});
export type Step = z.infer<typeof Step>;

/** A transaction: in the journal while it runs, and its receipt afterwards. */
export const Receipt = z.object({ version: z.literal(1), id: z.string(), at: z.string(), steps: z.array(Step) });
export type Receipt = z.infer<typeof Receipt>;

export const digestOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
export const digestOrNull = (bytes: Uint8Array | null): string | null => (bytes === null ? null : digestOf(bytes));

export function refused(message: string, hint: string, cause?: unknown): SkillError {
  return new SkillError('DOCUMENT_REFUSED', message, { hint, cause });
}
