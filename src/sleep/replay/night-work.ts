import { realpathSync } from 'node:fs';
import { isAbsolute, relative, sep } from 'node:path';
import type { AgentRunner, Sandbox, SkillPackage } from '../../core/contracts/index.ts';
import type { WorkspaceEnvOptions } from '../../runners/index.ts';
import { readPackage, skillHeader } from '../../skills/index.ts';
import { openTemplate, type ProjectTemplate, type Template } from '../../workspaces/index.ts';
import type { LiveDocument } from '../documents/live-document.ts';
import type { Documents } from './attempt.ts';

/** An agent with tools that attempts the tasks of a night, and the copy of the project that it begins from. */
export type OpenedWork = {
  readonly agent: AgentRunner;
  readonly sandbox: Sandbox;
  readonly limits: NonNullable<WorkspaceEnvOptions['limits']>;
  readonly project: ProjectTemplate;
};

export type NightWork = Pick<OpenedWork, 'agent' | 'sandbox' | 'limits'> & {
  /** Names what workspaces begin from: another one is another score. */
  readonly key: string;
  /** The workspace and the skill of an attempt at which these documents are read. */
  begin(read: Documents): Promise<{ readonly template: Template; readonly skills: readonly SkillPackage[] }>;
};

type Where = { readonly documents: readonly LiveDocument[]; readonly folder: string };

/**
 * The documents stand where the agent looks for them: the memory in the copy of the project, the skill in the agent's home; one
 * that belongs to the project also in the copy, so that no older text of it is found there.
 */
export function nightWork(opened: OpenedWork, { documents, folder }: Where): NightWork {
  const { agent, sandbox, limits, project } = opened;
  const templates = new Map<string, Promise<Template>>();
  const packages = new Map<LiveDocument, Promise<SkillPackage>>();
  const remembered = <Key, T>(known: Map<Key, Promise<T>>, key: Key, make: () => Promise<T>) => {
    const value = known.get(key) ?? make();
    known.set(key, value);
    return value;
  };
  const source = project.template.path;
  const git = project.commit !== undefined;
  const templateWith = (files: Readonly<Record<string, string>>) =>
    remembered(templates, JSON.stringify(files), () => openTemplate({ source, files, git, sandbox }));
  const folders = [folder, realPathOf(folder)];
  const memory = documents.find(({ kind }) => kind === 'memory');
  const skills = documents.filter(({ kind }) => kind === 'skill');
  return {
    ...{ agent, sandbox, limits, key: project.template.key },
    async begin(read) {
      const { name } = skillHeader(read.skill);
      const skill = skills.find((one) => one.name === name);
      const files = { ...laid(memory, read.memory, folders), ...laid(skill, read.skill, folders) };
      const isAsItIs = Object.keys(files).length === 0;
      const base = skill && remembered(packages, skill, () => packageOf(skill));
      return {
        template: isAsItIs ? project.template : await templateWith(files),
        skills: read.skill.trim() === '' ? [] : [withText(await base, read.skill)],
      };
    },
  };
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** By its path in the copy of the project, if it lies in the project. */
function laid(document: LiveDocument | undefined, text: string, folders: readonly string[]): Record<string, string> {
  if (document === undefined || text.trim() === '') return {};
  const { path, realPath } = document.live;
  const places = folders.flatMap((folder) => [relative(folder, path), relative(folder, realPath)]);
  const inside = places.find((place) => place !== '' && !isAbsolute(place) && place.split(sep)[0] !== '..');
  return inside === undefined ? {} : { [inside.split(sep).join('/')]: text };
}

const packageOf = async ({ live }: LiveDocument): Promise<SkillPackage> =>
  live.bytes === null ? { files: {} } : readPackage(live.path);

const withText = (base: SkillPackage | undefined, text: string): SkillPackage => ({
  ...base,
  files: { ...base?.files, 'SKILL.md': text },
});
