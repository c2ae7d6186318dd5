import { realpath } from 'node:fs/promises';
import { dirname, extname, join, resolve } from 'node:path';
import { SkillError } from '../../core/contracts/index.ts';
import { SKILL_FILE } from '../../core/document/index.ts';
import {
  backupPath,
  digestOf,
  type Moment,
  type ReadDocument,
  type Replacement,
  readDocument,
  replaceFiles,
  skillFileAt,
} from '../../skills/index.ts';
import type { LoadedRun } from '../load-run.ts';
import { newChangeId, standingChanges } from './applied-changes.ts';
import { filesOf, inFormOf, type PlannedFile, planFiles } from './planned-files.ts';

type Place = {
  /** Private: where the old bytes are kept. */
  readonly journalFolder: string;
  /** An absolute path in place of the one that the skill was read from. */
  readonly to?: string | undefined;
};

/**
 * `write` can be written. `same`: the document holds the text already. `unchanged`: training has changed nothing. `changed`: somebody
 * edited the document since the run began. `missing`: it is gone, and nobody named another place.
 */
type Standing = 'write' | 'same' | 'unchanged' | 'changed' | 'missing';

/** What applying a run would do. */
export type ApplyPlan = {
  readonly standing: Standing;
  readonly document: ReadDocument;
  readonly before: string;
  readonly after: string;
  /** Of a package: the files beside the document that would change. */
  readonly others: readonly PlannedFile[];
  /** The file that somebody edited, if `standing` says so. */
  readonly edited?: string | undefined;
};

/** Compares the document with what the run began from. Undefined for a run that began from no file, when no place is named. */
export async function planApply(run: LoadedRun, place: Place): Promise<ApplyPlan | undefined> {
  const { initialSkill, best } = run.state;
  const path = await documentPath(run, place);
  if (path === undefined) return undefined;
  const document = await readDocument(path, [await realFolderOf(path)]);
  const before = document.bytes === null ? '' : textOf(document.bytes, path);
  const [own, first] = [best.skill, initialSkill].map((text) => filesOf(run.state, text)[SKILL_FILE] ?? '');
  const after = inFormOf(run.state, own!, document.bytes === null ? first! : before);
  const lastWritten = await writtenBefore(run.state, place);
  const others = await planFiles(run.state, { skillPath: document.realPath, lastWritten });
  const known = [run.state.skillSource?.digest, digestOf(Buffer.from(first!)), lastWritten(document.realPath)];
  const standing = standingOf({
    document,
    after,
    isNamed: place.to !== undefined,
    isKnown: (one) => known.includes(one),
  });
  const edited =
    standing === 'changed' ? document.path : others.find((file) => file.standing === 'changed')?.document.path;
  return { standing: together(run, standing, others), document, before, after, others, edited };
}

/** All or nothing: one file that was edited keeps the rest from being written. */
function together({ state }: LoadedRun, own: Standing, others: readonly PlannedFile[]): Standing {
  const all = [own, ...others.map(({ standing }) => standing)];
  if (all.every((standing) => standing === 'same')) return 'same';
  if (state.best.skill === state.initialSkill) return 'unchanged';
  return all.find((standing) => standing === 'missing' || standing === 'changed') ?? 'write';
}

/** The document that is meant; undefined for a run that began from no file, when no place is named. */
export async function documentPath(
  { path, state: { skillSource } }: LoadedRun,
  { to }: Place,
): Promise<string | undefined> {
  if (to === undefined) return skillSource && resolve(path, skillSource.path);
  const file = await skillFileAt(to);
  return extname(file).toLowerCase() === '.md' ? file : join(file, 'SKILL.md');
}

/** Where the document really lies: a person who names a link means the file behind it. */
const realFolderOf = async (path: string) => dirname(await realpath(path).catch(() => path));

function textOf(bytes: Buffer, path: string): string {
  const text = bytes.toString('utf8');
  if (Buffer.from(text).equals(bytes)) return text;
  const hint = 'Save it as UTF-8, and train from it again; it is as it was.';
  throw new SkillError('DOCUMENT_REFUSED', `${path} is not UTF-8`, { hint });
}

type Compared = Pick<ApplyPlan, 'document' | 'after'> & {
  /** Whether a person named the place. */
  readonly isNamed: boolean;
  readonly isKnown: (digest: string) => boolean;
};

function standingOf({ document: { digest }, after, isNamed, isKnown }: Compared): Standing {
  if (digest === digestOf(Buffer.from(after))) return 'same';
  if (digest === null) return isNamed ? 'write' : 'missing';
  return isKnown(digest) ? 'write' : 'changed';
}

/** What was written of a run at a place before: a run may be resumed and applied again. */
async function writtenBefore(state: LoadedRun['state'], { journalFolder }: Place) {
  const steps = (await standingChanges(journalFolder, state)).flatMap((change) => change.steps);
  return (realPath: string) => steps.findLast((step) => step.realPath === realPath)?.after;
}

type ApplyOptions = Pick<Place, 'journalFolder'> & {
  readonly onMoment?: ((moment: Moment) => void | Promise<void>) | undefined;
};

/** Writes what was planned, all or nothing, and answers where the old bytes are; null where there was no file. */
export async function applyPlan(run: LoadedRun, plan: ApplyPlan, options: ApplyOptions): Promise<string | null> {
  const { realPath } = plan.document;
  const id = newChangeId(run);
  const { steps } = await replaceFiles(replacementsOf(plan), { ...options, id, roots: [dirname(realPath)] });
  return backupPath(options.journalFolder, id, steps[0]!);
}

function replacementsOf({ document, after, others }: ApplyPlan): Replacement[] {
  const isOwn = document.digest !== digestOf(Buffer.from(after));
  const own = { document, after, isAnyFile: false };
  const files = others.filter(({ standing }) => standing === 'write').map((file) => ({ ...file, isAnyFile: true }));
  return [...(isOwn ? [own] : []), ...files].map(({ document: { path, realPath, digest }, after: text, isAnyFile }) => {
    return { path, realPath, expected: digest, bytes: text === null ? null : Buffer.from(text), isAnyFile };
  });
}
