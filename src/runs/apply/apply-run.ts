import { realpath } from 'node:fs/promises';
import { dirname, extname, join, resolve } from 'node:path';
import { SkillError } from '../../core/errors.ts';
import { keepForm } from '../../core/skill/document-form.ts';
import {
  backupPath,
  digestOf,
  type Moment,
  type ReadDocument,
  readDocument,
  replaceFiles,
  skillFileAt,
} from '../../skills/index.ts';
import type { LoadedRun } from '../load-run.ts';
import { newChangeId, standingChanges } from './applied-changes.ts';

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
};

/** Compares the document with what the run began from. Undefined for a run that began from no file, when no place is named. */
export async function planApply(run: LoadedRun, place: Place): Promise<ApplyPlan | undefined> {
  const { initialSkill, best } = run.state;
  const path = await documentPath(run, place);
  if (path === undefined) return undefined;
  const document = await readDocument(path, [await realFolderOf(path)]);
  const before = document.bytes === null ? '' : textOf(document.bytes, path);
  const after = keepForm(best.skill, document.bytes === null ? initialSkill : before);
  const standing = await standingOf(run, place, { document, after });
  return { standing, document, before, after };
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

type Compared = Pick<ApplyPlan, 'document' | 'after'>;

async function standingOf({ state }: LoadedRun, place: Place, { document, after }: Compared): Promise<Standing> {
  if (document.digest === digestOf(Buffer.from(after))) return 'same';
  if (state.best.skill === state.initialSkill) return 'unchanged';
  if (document.digest === null) return place.to === undefined ? 'missing' : 'write';
  return (await knownDigests(state, place, document)).includes(document.digest) ? 'write' : 'changed';
}

/** Of the text that the run began from, and of what was written here of it before: a run may be resumed and applied again. */
async function knownDigests(state: LoadedRun['state'], { journalFolder }: Place, { realPath }: ReadDocument) {
  const steps = (await standingChanges(journalFolder, state)).flatMap((change) => change.steps);
  const last = steps.findLast((step) => step.realPath === realPath)?.after;
  return [state.skillSource?.digest, digestOf(Buffer.from(state.initialSkill)), last];
}

type ApplyOptions = Pick<Place, 'journalFolder'> & {
  readonly onMoment?: ((moment: Moment) => void | Promise<void>) | undefined;
};

/** Writes what was planned, all or nothing, and answers where the old bytes are; null where there was no file. */
export async function applyPlan(run: LoadedRun, plan: ApplyPlan, options: ApplyOptions): Promise<string | null> {
  const { path, realPath, digest } = plan.document;
  const id = newChangeId(run);
  const replacement = { path, realPath, expected: digest, bytes: Buffer.from(plan.after) };
  const { steps } = await replaceFiles([replacement], { ...options, id, roots: [dirname(realPath)] });
  return backupPath(options.journalFolder, id, steps[0]!);
}
