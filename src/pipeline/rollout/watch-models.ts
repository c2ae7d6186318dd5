import {
  type AgentRunner,
  type ChatModel,
  type ChatRequest,
  ModelCallError,
  SkillError,
} from '../../core/contracts/index.ts';
import type { StageDeps } from '../stage-deps.ts';

/** Draws that an environment may number inside one rollout. */
const DRAWS_PER_ROLLOUT = 1000;

type Rollout = {
  readonly sampleIndex: number;
  /** Aborted when the rollout is over: no call outlives it. */
  readonly signal: AbortSignal;
};

/**
 * The models as one rollout sees them: calls belong to this rollout's draw and may not start once the run stops.
 * `throwOutage` throws what made a call fail, so that an environment that swallows errors cannot turn an outage into a score.
 */
export function watchModels(deps: StageDeps, rollout: Rollout) {
  const target = watchModel(deps.target, 'rollout', deps, rollout);
  const judge = deps.judge && watchModel(deps.judge, 'judge', deps, rollout);
  const agent = deps.agent && watchAgent(deps.agent, deps, rollout);
  return {
    target: target.model,
    ...(judge ? { judge: judge.model } : {}),
    ...(agent ? { agent: agent.runner } : {}),
    throwOutage() {
      target.throwOutage();
      judge?.throwOutage();
      agent?.throwOutage();
    },
  };
}

function watchModel(model: ChatModel, stage: string, { stop, callTimeoutMs }: StageDeps, rollout: Rollout) {
  const waiting = new Set<{ readonly since: number }>();
  let outage: { readonly reason: unknown } | undefined;
  let givenUpAfterMs = 0;

  const complete: ChatModel['complete'] = async (request) => {
    if (stop.signal.aborted) outage ??= { reason: stop.signal.reason };
    stop.signal.throwIfAborted();
    rollout.signal.throwIfAborted();
    const call = { since: performance.now() };
    waiting.add(call);
    try {
      return await model.complete(toRolloutRequest({ stage, ...request }, rollout));
    } catch (error) {
      if (error instanceof SkillError) outage ??= { reason: error };
      if (stop.signal.aborted) outage ??= { reason: stop.signal.reason };
      givenUpAfterMs = Math.max(givenUpAfterMs, performance.now() - call.since);
      throw error;
    } finally {
      waiting.delete(call);
    }
  };

  const throwOutage = () => {
    if (outage) throw outage.reason;
    const waitedMs = Math.max(givenUpAfterMs, ...[...waiting].map((call) => performance.now() - call.since));
    // A call that outlived its own time-out was being retried: the task ran out of time because of the model.
    if (waitedMs <= callTimeoutMs) return;
    throw new ModelCallError(`${model.id} has not answered for ${Math.round(waitedMs / 1000)} s`);
  };

  return { model: { id: model.id, complete }, throwOutage };
}

/** The same for an agent: its runs have limits of their own, so that whatever it throws is an outage. */
function watchAgent(agent: AgentRunner, { stop }: StageDeps, rollout: Rollout) {
  let outage: { readonly reason: unknown } | undefined;
  const run: AgentRunner['run'] = async (request) => {
    if (stop.signal.aborted) outage ??= { reason: stop.signal.reason };
    stop.signal.throwIfAborted();
    const sampleIndex = rollout.sampleIndex * DRAWS_PER_ROLLOUT + request.sampleIndex;
    const signal = AbortSignal.any([request.signal, rollout.signal, stop.signal]);
    try {
      return await agent.run({ stage: 'rollout', ...request, sampleIndex, signal });
    } catch (error) {
      if (error instanceof SkillError) outage ??= { reason: error };
      if (stop.signal.aborted) outage ??= { reason: stop.signal.reason };
      throw error;
    }
  };
  const throwOutage = () => {
    if (outage) throw outage.reason;
  };
  return { runner: { ...agent, run }, throwOutage };
}

function toRolloutRequest(request: ChatRequest, { sampleIndex, signal }: Rollout): ChatRequest {
  const own = request.signal ?? signal;
  return {
    ...request,
    signal: own === signal ? signal : AbortSignal.any([own, signal]),
    sampleIndex: sampleIndex * DRAWS_PER_ROLLOUT + (request.sampleIndex ?? 0),
  };
}

interface Deadline extends Disposable {
  readonly signal: AbortSignal;
  readonly expiry: Promise<never>;
}

/** `signal` fires when the time of a task is up or the run gives up; `expiry` rejects at the same moment. */
export function createDeadline({ stop, rolloutTimeoutMs }: Pick<StageDeps, 'stop' | 'rolloutTimeoutMs'>): Deadline {
  const controller = new AbortController();
  let reject: (reason: unknown) => void = () => {};
  const expiry = new Promise<never>((_, no) => {
    reject = no;
  });
  expiry.catch(() => {}); // a task that ended in time does not wait for it
  const end = (reason: unknown) => {
    reject(reason); // first: what a task answers to its abort is too late to count
    controller.abort(reason);
  };
  const abandon = () => end(stop.abandon.reason);
  const timer = setTimeout(() => end(new Error(`timed out after ${rolloutTimeoutMs / 1000} s`)), rolloutTimeoutMs);
  stop.abandon.addEventListener('abort', abandon);
  return {
    signal: controller.signal,
    expiry,
    [Symbol.dispose]() {
      clearTimeout(timer);
      stop.abandon.removeEventListener('abort', abandon);
    },
  };
}
