import { realpath } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, extname, join, resolve } from 'node:path';
import { SkillError } from '../core/contracts/index.ts';
import {
  keepForm,
  keepLineEnds,
  type PackageFiles,
  partOf,
  SKILL_FILE,
  splitPackage,
  trainedForm,
  trainsPackage,
} from '../core/document/index.ts';
import type { RunState } from '../core/run/index.ts';
import type { Environment } from '../project/index.ts';
import {
  backupPath,
  digestOf,
  type Moment,
  type ReadDocument,
  type Replacement,
  readDocument,
  replaceFiles,
  skillFileAt,
} from '../skills/index.ts';
import { APPLIED_FOLDER, openStateFolder, stateFolderOf } from '../stores/index.ts';
import type { LoadedRun } from './load-run.ts';
import { newChangeId, standingChanges } from './undo-apply.ts';

type ApplyPlace = {
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

export type ApplyOptions = {
  /** An absolute path in place of the one that the skill was read from. */
  readonly to?: string | undefined;
  /** Sees the change before it is written. Without it, all is written that can be. */
  readonly agrees?: (plan: ApplyPlan) => Promise<boolean>;
};

/** `plan` is missing for a run that began from no file, when no place is named. */
export type AppliedRun = {
  readonly isApplied: boolean;
  readonly plan: ApplyPlan | undefined;
  /** Where the old bytes are; null where there was no file, or nothing was written. */
  readonly backup: string | null;
};

/** Puts what a run learned into the skill that it began from. Writes nothing where the document was edited since, or is gone. */
export async function applyRun(
  run: LoadedRun,
  journalFolder: string,
  { to, agrees = async () => true }: ApplyOptions = {},
): Promise<AppliedRun> {
  const plan = await planApply(run, { journalFolder, to });
  if (plan?.standing !== 'write' || !(await agrees(plan))) return { isApplied: false, plan, backup: null };
  return { isApplied: true, plan, backup: await applyPlan(run, plan, { journalFolder }) };
}

/** Where old bytes are kept, for this user alone. `env` and `home` are those of the process unless they are given. */
export async function openAppliedFolder({
  env = process.env,
  home = env.HOME || homedir(),
}: UserPlace = {}): Promise<string> {
  return join(await openStateFolder(stateFolderOf({ env, home, platform: process.platform })), APPLIED_FOLDER);
}

type UserPlace = { readonly env?: Environment; readonly home?: string };

/** Compares the document with what the run began from. Undefined for a run that began from no file, when no place is named. */
async function planApply(run: LoadedRun, place: ApplyPlace): Promise<ApplyPlan | undefined> {
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
  { to }: ApplyPlace,
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
async function writtenBefore(state: LoadedRun['state'], { journalFolder }: ApplyPlace) {
  const steps = (await standingChanges(journalFolder, state)).flatMap((change) => change.steps);
  return (realPath: string) => steps.findLast((step) => step.realPath === realPath)?.after;
}

type WriteOptions = Pick<ApplyPlace, 'journalFolder'> & {
  readonly onMoment?: ((moment: Moment) => void | Promise<void>) | undefined;
};

/** Writes what was planned, all or nothing, and answers where the old bytes are; null where there was no file. */
async function applyPlan(run: LoadedRun, plan: ApplyPlan, options: WriteOptions): Promise<string | null> {
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

/** A file of a package besides SKILL.md, and what applying would make of it. */
type PlannedFile = {
  /** From the folder of the skill. */
  readonly name: string;
  readonly document: ReadDocument;
  /** Null: there is no such file, before or after. */
  readonly before: string | null;
  readonly after: string | null;
  readonly standing: 'write' | 'same' | 'changed';
};

/** The files that a text of a run stands for. */
export const filesOf = ({ config }: RunState, text: string): PackageFiles =>
  config && trainsPackage(config) ? splitPackage(text) : { [SKILL_FILE]: text };

/** A trained SKILL.md in the form of the one that it takes the place of. A trained description is not taken back. */
function inFormOf({ config }: RunState, text: string, document: string): string {
  if (!config?.parts?.includes('description')) return keepForm(text, document);
  const mark = document.startsWith('\uFEFF') ? '\uFEFF' : '';
  return mark + keepLineEnds(text.replace(/^\uFEFF/, ''), document);
}

type KnownFiles = {
  /** Where SKILL.md really lies. */
  readonly skillPath: string;
  /** What was written there of this run before. */
  readonly lastWritten: (realPath: string) => string | null | undefined;
};

/** Every other file that training changed, and those that a new folder lacks. */
async function planFiles(state: RunState, { skillPath, lastWritten }: KnownFiles): Promise<PlannedFile[]> {
  const [initial, best] = [filesOf(state, state.initialSkill), filesOf(state, state.best.skill)];
  const names = [...new Set([...Object.keys(initial), ...Object.keys(best)])].filter((name) => name !== SKILL_FILE);
  const folder = dirname(skillPath);
  const planned: PlannedFile[] = [];
  for (const name of names.sort()) {
    const document = await readDocument(join(folder, name), [folder], { isAnyFile: true });
    const isUntouched = initial[name] === best[name] && document.bytes !== null;
    if (!isUntouched) planned.push(planFile(name, document, { initial, best, lastWritten }));
  }
  return planned;
}

type Versions = Pick<KnownFiles, 'lastWritten'> & { readonly initial: PackageFiles; readonly best: PackageFiles };

function planFile(name: string, document: ReadDocument, { initial, best, lastWritten }: Versions): PlannedFile {
  const before = document.bytes?.toString('utf8') ?? null;
  const text = best[name];
  const after = text === undefined ? null : keepLineEnds(text, before ?? '');
  const isInitial = before === null ? true : trainedForm(before) === initial[name];
  const isOurs = isInitial || lastWritten(document.realPath) === document.digest;
  const isSame = document.digest === (after === null ? null : digestOf(Buffer.from(after)));
  return { name, document, before, after, standing: isSame ? 'same' : isOurs ? 'write' : 'changed' };
}

/** Files that agents run: who adopts them has looked at them. */
export const scriptsIn = (files: readonly PlannedFile[]) =>
  files.filter(({ name, standing, after }) => standing === 'write' && after !== null && partOf(name) === 'scripts');
