import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { configShape, type SkillOptConfigInput } from '../core/config.ts';
import type { SkillEnv } from '../core/env.ts';
import { SkillError } from '../core/errors.ts';
import type { PromptOverrides } from '../core/prompt-name.ts';
import { loadEnv } from '../project/env/load-env.ts';
import type { KeyPath } from '../project/find-line.ts';
import { isPromptPath, type LoadedProject } from '../project/load-project.ts';
import { withPlace } from '../project/origin.ts';
import type { Project } from '../project/project.ts';
import { shownPath } from '../stores/shown-path.ts';
import { requireReadable } from '../train/step/skill-cap.ts';

/** A project with everything loaded that does not depend on a model. */
export type Wiring = {
  readonly env: SkillEnv;
  readonly config: SkillOptConfigInput;
  /** The run directory, absolute. */
  readonly path: string;
  readonly initialSkill: string | undefined;
  readonly promptOverrides: PromptOverrides;
};

export async function wireRun(loaded: LoadedProject): Promise<Wiring> {
  const { project, directory, findOrigin } = loaded;
  const env = await loadEnv(loaded);
  const blame = async (error: unknown, path: KeyPath) => Promise.reject(await withPlace(error, path, findOrigin));
  const path = project.outRoot ?? join(directory, 'runs', project.name ?? env.name);
  return {
    env,
    path,
    config: runConfig(project),
    initialSkill:
      project.skill === undefined
        ? undefined
        : await readSkill(project.skill).catch((error) => blame(error, ['skill'])),
    promptOverrides: await readPrompts(project.promptOverrides).catch((error) => blame(error, ['promptOverrides'])),
  };
}

/** The keys of a project that are settings of a run. */
function runConfig(project: Project): SkillOptConfigInput {
  const entries = Object.entries(project).filter(([key, value]) => key in configShape && value !== undefined);
  return Object.fromEntries(entries) as SkillOptConfigInput;
}

/** Throws for a document that is not there, or that no model could read. */
export async function readSkill(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    const problem = cause.code === 'ENOENT' ? 'does not exist' : `cannot be read: ${cause.message}`;
    const hint = 'Check the path. An empty file is a fine start.';
    throw new SkillError('SKILL_NOT_FOUND', `the skill document ${shownPath(path)} ${problem}`, {
      cause,
      hint,
    });
  });
  requireReadable(text); // here already: the estimate would count its tokens
  return text;
}

async function readPrompts(overrides: Project['promptOverrides']): Promise<PromptOverrides> {
  const entries = Object.entries(overrides).map(
    async ([name, value]) => [name, await readPrompt(name, value)] as const,
  );
  return Object.fromEntries(await Promise.all(entries));
}

async function readPrompt(name: string, value: string): Promise<string> {
  if (!isPromptPath(value)) return value;
  return readFile(value, 'utf8').catch((cause: Error) => {
    const hint = 'A value that ends in .md is the path of a file; any other is the prompt itself.';
    throw new SkillError('CONFIG_INVALID', `promptOverrides.${name} cannot be read: ${cause.message}`, { cause, hint });
  });
}
