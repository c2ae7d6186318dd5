import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type AgentRun,
  type RolloutContext,
  type Sandbox,
  SkillError,
  type WorkspaceDiff,
  type WorkspaceView,
} from '../../core/contracts/index.ts';
import { parseJson } from '../../core/text/index.ts';
import type { KnownTask } from './workspace-tasks.ts';

/** What an agent did, without the workspace. */
type Work = { readonly run: AgentRun; readonly diff: WorkspaceDiff };

type Attempt = {
  readonly task: KnownTask;
  readonly agent: string;
  readonly skills: readonly unknown[];
  readonly limits: object;
  readonly sandbox: Sandbox;
  readonly view: WorkspaceView;
};

/** Where a command sees the folder in which the work is kept. */
const KEPT = '/logs/kept';
const BROKEN = 3;
const SAVE = 'tar -cf "$1/work.tar" .';
const RESTORE = `tar -tf "$1/work.tar" > /dev/null || exit ${BROKEN}; find . -mindepth 1 -delete && tar -xpf "$1/work.tar"`;
const MOST_MS = 600_000;

/**
 * The finished work of an attempt, kept until it is judged, so that no model is asked for it twice. Its verifier may be
 * corrected meanwhile, so it is known by what the agent was given, and not by how it is judged.
 */
export function keptWork(place: RolloutContext['keptWork'], attempt: Attempt) {
  const folder = place && join(place.folder, keyOf(attempt, place.sampleIndex));
  const record = folder && join(folder, 'work.json');
  const inWorkspace = (script: string) => runBeside(script, folder!, attempt);
  const remove = async () => void (folder && (await rm(folder, { recursive: true, force: true })));
  return {
    /** Puts the work back into the workspace, if there is some. */
    async restore(): Promise<Work | undefined> {
      const text = record && (await readFile(record, 'utf8').catch(() => undefined));
      const work = text === undefined ? undefined : (parseJson(text) as Work | undefined);
      if (work === undefined) return undefined;
      const exitCode = await inWorkspace(RESTORE);
      if (exitCode === 0) return work;
      if (exitCode !== undefined) await remove(); // otherwise the sandbox failed, and not the work
      if (exitCode === BROKEN) return undefined;
      throw new SkillError('ENV_FAILED', 'finished work could not be put back into its workspace');
    },
    /** Before it is judged, so that neither a broken verifier nor a kill costs it twice. */
    async keep(work: Work): Promise<Work> {
      if (record === undefined) return work;
      await mkdir(folder!, { recursive: true });
      if ((await inWorkspace(SAVE)) === 0) await writeFile(record, JSON.stringify(work));
      else await remove();
      return work;
    },
    forget: remove,
  };
}

function keyOf({ task, agent, skills, limits }: Attempt, sampleIndex: number): string {
  const { id, prompt, files, binaries, from, at, setup, keepHistory, contents } = task;
  const folder = from === undefined ? undefined : contents?.split(' ')[0]; // the hash behind it is of the verifier's
  const given = { id, prompt, files, binaries, from, folder, at, setup, keepHistory };
  return createHash('sha256')
    .update(JSON.stringify([given, agent, skills, limits, sampleIndex]))
    .digest('hex')
    .slice(0, 32);
}

/**
 * In the sandbox, as everything that touches what an agent left. Its own signal: an aborted run keeps its work too. Undefined if the
 * sandbox fails: work that cannot be kept is judged all the same.
 */
async function runBeside(script: string, folder: string, { sandbox, view }: Attempt): Promise<number | undefined> {
  const inside = sandbox.hasOwnNames ? KEPT : folder;
  const command = ['/bin/sh', '-c', script, 'sh', inside];
  const mounts = [{ from: folder, to: KEPT, isWritable: true }];
  const ended = await sandbox.run({ command, mounts, workspace: view, timeoutMs: MOST_MS }).catch(() => undefined);
  return ended?.exitCode;
}
