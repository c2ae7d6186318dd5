import { dirname, join } from 'node:path';
import {
  keepForm,
  keepLineEnds,
  type PackageFiles,
  partOf,
  SKILL_FILE,
  splitPackage,
  trainedForm,
  trainsPackage,
} from '../../core/document/index.ts';
import type { RunState } from '../../core/run/index.ts';
import { digestOf, type ReadDocument, readDocument } from '../../skills/index.ts';

/** A file of a package besides SKILL.md, and what applying would make of it. */
export type PlannedFile = {
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
export function inFormOf({ config }: RunState, text: string, document: string): string {
  if (!config?.parts?.includes('description')) return keepForm(text, document);
  const mark = document.startsWith('\uFEFF') ? '\uFEFF' : '';
  return mark + keepLineEnds(text.replace(/^\uFEFF/, ''), document);
}

type Known = {
  /** Where SKILL.md really lies. */
  readonly skillPath: string;
  /** What was written there of this run before. */
  readonly lastWritten: (realPath: string) => string | null | undefined;
};

/** Every other file that training changed, and those that a new folder lacks. */
export async function planFiles(state: RunState, { skillPath, lastWritten }: Known): Promise<PlannedFile[]> {
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

type Versions = Pick<Known, 'lastWritten'> & { readonly initial: PackageFiles; readonly best: PackageFiles };

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
