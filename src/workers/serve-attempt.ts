import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type AgentRunner,
  type ChatModel,
  type RolloutResult,
  type SkillEnv,
  SkillError,
} from '../core/contracts/index.ts';
import { linkedSignal } from '../models/index.ts';
import { createLimit, createStop, rolloutKey, runRollout, type StageDeps } from '../pipeline/index.ts';
import { agentFor } from './agent-elsewhere.ts';
import { hashOf } from './handshake.ts';
import type { Post } from './post.ts';
import { encodeError, type Job, type Questions, type Task, toWire } from './wire.ts';

export type AgentsWaiting = Parameters<typeof agentFor>[3];

/** What a worker makes attempts with. */
export type Making = {
  /** Set up already. */
  readonly env: SkillEnv;
  readonly agent?: AgentRunner | undefined;
  readonly extras: Readonly<Record<string, unknown>>;
  /** What all attempts have in common. */
  readonly deps: StageDeps;
  readonly post: Post<Questions>;
  readonly agents: AgentsWaiting;
  readonly folder: string;
  /** Texts by their hash. */
  readonly skills: Map<string, string>;
  readonly tell: (type: 'begin' | 'end', task: Task) => void;
};

type Asked = Job & { readonly signal: AbortSignal };
type TakenTask = Asked & { readonly task: Task; readonly skill: string };

/** Asks the run for the attempt, makes it, and says what came of it. */
export async function serveAttempt(asked: Asked, making: Making): Promise<void> {
  const { run, attempt, signal } = asked;
  const { post, skills, tell } = making;
  const known = new Map(skills); // one that it says it knows must not be forgotten meanwhile
  const task = await post.ask(run, 'begin', { attempt, worker: post.address, known: [...known.keys()] }, signal);
  if (!task) return;
  if (task.skill !== undefined) remember(skills, task.skillHash, task.skill);
  tell('begin', task);
  const taken = { ...asked, task, skill: task.skill ?? known.get(task.skillHash)! };
  const outcome = await attemptTask(taken, making).then(
    (result) => ({ attempt, result }),
    (error) => ({ attempt, error: encodeError(error) }),
  );
  signal.throwIfAborted();
  await post.ask(run, 'result', outcome, signal);
  tell('end', task);
}

/** A run has few skills at a time. */
const MOST_SKILLS = 50;

function remember(skills: Map<string, string>, hash: string, skill: string): void {
  if (skills.size >= MOST_SKILLS) skills.delete(skills.keys().next().value!);
  skills.set(hash, skill);
}

/** The attempt as the process that trains would make it, but for its models, which that process asks. */
async function attemptTask({ task, skill, ...asked }: TakenTask, making: Making): Promise<RolloutResult> {
  const { env, agent, post, agents, folder } = making;
  requireSameKey(task, making);
  const workFolder = join(folder, task.key);
  using stop = createStop(asked.signal, 0);
  const deps: StageDeps = {
    ...{ ...making.deps, workFolder, stop, limit: createLimit(1, stop) },
    target: modelOf('target', task.target, post, asked),
    judge: task.judge === undefined ? undefined : modelOf('judge', task.judge, post, asked),
    agent: agent && agentFor(agent, post, asked, agents),
  };
  // Draw 0: the process that trains numbers the calls of the attempt by its draw.
  const [result] = await runRollout({ env, skill, items: [task.item], sampleIndex: 0, isPart: true }, deps);
  if (existsSync(workFolder)) await rm(workFolder, { recursive: true, force: true });
  return result!;
}

/** The name of a queue covers all that scores depend on; an environment may still differ in what it found here. */
function requireSameKey({ key, item, skillHash: hash, sampleIndex, target, judge }: Task, making: Making): void {
  const { env, extras, agent } = making;
  const models = { target: { id: target }, judge: judge === undefined ? judge : { id: judge }, agent };
  if (rolloutKey({ env, item, skillHash: hash, sampleIndex }, { ...models, extras }) === key) return;
  const message = `a worker would score ${item.id} differently: its environment or task has another version there`;
  throw new SkillError('WORKER_MISMATCH', message, { hint: 'Give all machines the same copy of the project.' });
}

function modelOf(
  role: 'target' | 'judge',
  id: string,
  post: Post<Questions>,
  { run, attempt, signal }: Asked,
): ChatModel {
  const times = new Map<string, number>();
  return {
    id,
    async complete(request) {
      const sent = toWire(request);
      const hash = hashOf([role, sent]);
      const time = (times.get(hash) ?? 0) + 1;
      times.set(hash, time);
      const call = { attempt, role, id: `${hash} ${time}`, request: sent };
      const until = linkedSignal(signal, request.signal);
      try {
        return await post.ask(run, 'call', call, until.signal);
      } catch (error) {
        // A worker that ends drops nothing: the next one gets the reply, which is paid for.
        if (until.signal.aborted && !signal.aborted) post.tell(run, 'drop', call);
        throw error;
      } finally {
        until.release();
      }
    },
  };
}
