import { readFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { type AgentRunner, parseConfig, type RolloutRunner, type SkillEnv } from '../core/contracts/index.ts';
import {
  type Caller,
  isModulePath,
  type LoadedProject,
  lockFileOf,
  moduleFiles,
  resolveAgent,
} from '../project/index.ts';
import { withEnv } from '../train/index.ts';
import type { Fingerprint, RolloutWorker, WorkerEvent } from '../workers/index.ts';

import { type Wiring, wireRun } from './wire-run.ts';

/** A project whose environment is set up. */
type Ready = Pick<Wiring, 'config'> & { readonly env: SkillEnv };

type QueueUse = {
  readonly agent: AgentRunner | undefined;
  /** `undefined`: the attempts are made in this process. */
  readonly queue: string | undefined;
  readonly caller: Caller;
};

export type Elsewhere = { readonly runner?: RolloutRunner; readonly agent?: AgentRunner };

/** What a run needs for its attempts to be made by workers. */
export async function workElsewhere(
  loaded: LoadedProject,
  ready: Ready,
  { agent, queue, caller }: QueueUse,
): Promise<Elsewhere> {
  if (queue === undefined) return {};
  const onWarning = (message: string) => caller.notices?.warn(message);
  if (ready.env.rolloutMany) {
    onWarning(`${ready.env.name} attempts many tasks in one go: they are made here, and no worker is asked`);
    return {};
  }
  const { agentElsewhere, runElsewhere } = await import('../workers/index.ts');
  const fingerprint = await fingerprintOf(loaded, ready, agent);
  const runner = await runElsewhere({ url: queue, fingerprint, onWarning });
  return { runner, ...(agent && { agent: agentElsewhere(agent) }) };
}

/** The same for documents that are scored. Each sets its environment up by itself, and some know their version only then. */
export const scoreElsewhere = (loaded: LoadedProject, use: QueueUse) => (wiring: Wiring) =>
  withEnv(wiring.env, parseConfig(wiring.config), () => workElsewhere(loaded, wiring, use));

export type WorkerOptions = {
  readonly queue: string;
  /** Attempts at the same time. Default: the `workers` of the project. */
  readonly concurrency?: number | undefined;
  readonly onEvent?: ((event: WorkerEvent) => void) | undefined;
};

export type OpenWorker = RolloutWorker & { readonly concurrency: number; readonly project: string };

/** Makes attempts for runs of this project, in whichever process they are. Asks no model, but an agent asks its own. */
export async function openWorker(loaded: LoadedProject, caller: Caller, options: WorkerOptions): Promise<OpenWorker> {
  const { env, config } = await wireRun(loaded, 'score');
  const { workers, extras, rolloutTimeoutMs, callTimeoutMs } = parseConfig(config);
  const { queue: url, concurrency = workers, onEvent } = options;
  const agent = await resolveAgent(loaded, caller);
  await env.setup?.(parseConfig(config));
  try {
    const fingerprint = await fingerprintOf(loaded, { env, config }, agent);
    const { serveRollouts } = await import('../workers/index.ts');
    const limits = { rolloutTimeoutMs, callTimeoutMs, concurrency };
    const worker = await serveRollouts({ url, fingerprint, env, agent, extras, ...limits, onEvent });
    const close = async (drainMs?: number) => {
      await worker.close(drainMs);
      await env.close?.();
    };
    return { ...worker, close, concurrency, project: fingerprint.project };
  } catch (error) {
    await env.close?.();
    throw error;
  }
}

const PACKAGE = new URL('../../package.json', import.meta.url);

/** What two machines must have in common to score alike. Models are not part of it: the process that trains asks them. */
export async function fingerprintOf(
  { project, directory }: LoadedProject,
  { env, config }: Ready,
  agent: AgentRunner | undefined,
): Promise<Fingerprint> {
  const { hashOf } = await import('../workers/index.ts');
  const { extras, rolloutTimeoutMs, callTimeoutMs } = parseConfig(config);
  const { version } = JSON.parse(readFileSync(PACKAGE, 'utf8')) as { version: string };
  const files = isModulePath(project.env) ? await filesOf(project.env) : [];
  const named = files.map(([path, text]) => [relative(directory, path).replaceAll('\\', '/'), hashOf(text)]);
  return {
    project: project.name ?? env.name,
    parts: {
      'version of skillopt': version,
      'version of the environment': hashOf([env.name, env.version ?? '']),
      'setting extras': hashOf(extras),
      'setting rolloutTimeoutMs': String(rolloutTimeoutMs),
      'setting callTimeoutMs': String(callTimeoutMs),
      ...(agent && { 'agent, its version, model or sandbox': hashOf(agent.id) }),
      ...Object.fromEntries(named),
    },
  };
}

async function filesOf(path: string): Promise<(readonly [string, string])[]> {
  const lock = lockFileOf(dirname(path));
  return [...(await moduleFiles(path)), ...(lock === undefined ? [] : [[lock, readFileSync(lock, 'utf8')] as const])];
}
