import type { AgentStep, SkillPackage } from '../../core/contracts/index.ts';
import {
  keepLineEnds,
  type PackageFiles,
  SKILL_FILE,
  type SkillPart,
  splitPackage,
  trainedFiles,
  trainsPackage,
} from '../../core/document/index.ts';

export type Trained = { readonly parts?: readonly SkillPart[] | undefined };

/** The trained files of a text. */
export const filesIn = (text: string, trained: Trained): PackageFiles =>
  trainsPackage(trained) ? splitPackage(text) : { [SKILL_FILE]: text };

/** What an agent gets: the trained files in the place of those in the folder, which may be gone, and the rest as it is. */
export function installedPackage(base: SkillPackage | undefined, text: string, trained: Trained): SkillPackage {
  const own = base?.files ?? {};
  return {
    ...base,
    files: { ...(base && untrainedFiles(base, trained)), ...inForm(filesIn(text, trained), own) },
  };
}

/** What is the same whatever is trained. */
export function untrainedFiles({ files }: SkillPackage, trained: Trained): PackageFiles {
  const others = trainsPackage(trained) ? without(files, trainedFiles(files, trained)) : files;
  return without(others, { [SKILL_FILE]: '' });
}

const without = (files: PackageFiles, gone: PackageFiles): PackageFiles =>
  Object.fromEntries(Object.entries(files).filter(([path]) => !Object.hasOwn(gone, path)));

/** Line ends as they are in the folder, but for SKILL.md, which agents read as text. */
const inForm = (files: PackageFiles, own: PackageFiles): PackageFiles =>
  Object.fromEntries(
    Object.entries(files).map(([path, text]) => {
      const old = path === SKILL_FILE ? undefined : own[path];
      return [path, old === undefined ? text : keepLineEnds(text, old)];
    }),
  );

/** Files of a skill, besides SKILL.md, that a call of a tool names. */
export function filesUsed({ files }: SkillPackage, steps: readonly AgentStep[]): string[] {
  const inputs = steps.flatMap((step) => (step.type === 'tool-call' ? [JSON.stringify(step.input ?? '')] : []));
  const others = Object.keys(files).filter((path) => path !== SKILL_FILE);
  return others.filter((path) => inputs.some((input) => input.includes(path)));
}
