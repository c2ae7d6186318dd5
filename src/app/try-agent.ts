import { stat } from 'node:fs/promises';
import { type AgentLimits, type AgentStep, SkillError } from '../core/contracts/index.ts';
import type { SandboxSpec } from '../project/index.ts';
import type { Tried } from '../report/index.ts';
import { type AgentRunnerOptions, agentRunner, nameOf } from '../runners/index.ts';
import { readPackage, skillHeader } from '../skills/index.ts';
import { fileReason, isMissing, shownPath } from '../stores/index.ts';
import { openSandbox, openTemplate, openWorkspace } from '../workspaces/index.ts';

export type TryOptions = Pick<AgentRunnerOptions, 'agent' | 'model' | 'baseURL' | 'apiKeyEnv' | 'path'> & {
  readonly prompt: string;
  /** Absolute: a folder with a SKILL.md, or the file. */
  readonly skill: string;
  /** Absolute: the workspace is a copy of it. Default: an empty workspace. */
  readonly folder?: string | undefined;
  readonly sandbox?: SandboxSpec | undefined;
  /** The name of the setting `path` in messages. */
  readonly pathSetting: string;
  readonly limits: AgentLimits;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  readonly onStart: (about: { readonly id: string }) => void;
  readonly onStep: (step: AgentStep) => void;
};

/** Lets an agent do one task with a skill, in a workspace that is removed afterwards. */
export async function tryAgent(options: TryOptions): Promise<Tried> {
  const { agent, model, baseURL, apiKeyEnv, path, pathSetting, prompt, limits, signal, onStep } = options;
  const skill = await readPackage(options.skill);
  nameOf(skill); // throws before anything is started or printed
  if (options.folder !== undefined) await requireFolder(options.folder);
  const sandbox = openSandbox(options.sandbox);
  const program = { agent, model, baseURL, apiKeyEnv, path, pathSetting, inherited: options.env };
  const runner = await agentRunner({ ...program, sandbox });
  const template = await openTemplate({ sandbox, source: options.folder });
  await using workspace = await openWorkspace({ template, sandbox });
  options.onStart(runner);
  const startedAt = performance.now();
  const request = { workspace: workspace.view, prompt, skills: [skill], limits, sampleIndex: 0, signal, onStep };
  const run = await runner.run(request);
  const ms = performance.now() - startedAt;
  const { name } = skillHeader(skill.files['SKILL.md'] ?? '');
  return { id: runner.id, skill: name, run, diff: await workspace.diff(), ms };
}

async function requireFolder(path: string): Promise<void> {
  const came = await stat(path).then(
    (found) => (found.isDirectory() ? undefined : 'is none'),
    (error) => (isMissing(error) ? 'is not there' : `cannot be read: ${fileReason(error)}`),
  );
  if (came === undefined) return;
  const message = `expected a folder that the workspace is a copy of, and ${shownPath(path)} ${came}`;
  throw new SkillError('USAGE', message, { hint: 'Name a folder, or none: the workspace is then empty.' });
}
