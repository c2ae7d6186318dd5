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

/** The first reason for which a call failed. A run that stops is one. */
function watchOutage({ stop }: StageDeps) {
  let outage: { readonly reason: unknown } | undefined;
  return {
    requireRunning() {
      if (stop.signal.aborted) outage ??= { reason: stop.signal.reason };
      stop.signal.throwIfAborted();
    },
    note(error: unknown) {
      if (error instanceof SkillError) outage ??= { reason: error };
      if (stop.signal.aborted) outage ??= { reason: stop.signal.reason };
    },
    throwOutage() {
      if (outage) throw outage.reason;
    },
  };
}

function watchModel(model: ChatModel, stage: string, deps: StageDeps, rollout: Rollout) {
  const outage = watchOutage(deps);
  const waiting = new Set<{ readonly since: number }>();
  let givenUpAfterMs = 0;

  const complete: ChatModel['complete'] = async (request) => {
    outage.requireRunning();
    rollout.signal.throwIfAborted();
    const call = { since: performance.now() };
    waiting.add(call);
    try {
      return await model.complete(toRolloutRequest({ stage, ...request }, rollout));
    } catch (error) {
      outage.note(error);
      givenUpAfterMs = Math.max(givenUpAfterMs, performance.now() - call.since);
      throw error;
    } finally {
      waiting.delete(call);
    }
  };

  const throwOutage = () => {
    outage.throwOutage();
    const waitedMs = Math.max(givenUpAfterMs, ...[...waiting].map((call) => performance.now() - call.since));
    // A call that outlived its own time-out was being retried: the task ran out of time because of the model.
    if (waitedMs <= deps.callTimeoutMs) return;
    throw new ModelCallError(`${model.id} has not answered for ${Math.round(waitedMs / 1000)} s`);
  };

  return { model: { id: model.id, complete }, throwOutage };
}

/** The same for an agent: its runs have limits of their own, so that whatever it throws is an outage. */
function watchAgent(agent: AgentRunner, deps: StageDeps, rollout: Rollout) {
  const { requireRunning, note, throwOutage } = watchOutage(deps);
  const run: AgentRunner['run'] = async (request) => {
    requireRunning();
    const sampleIndex = rollout.sampleIndex * DRAWS_PER_ROLLOUT + request.sampleIndex;
    const signal = AbortSignal.any([request.signal, rollout.signal, deps.stop.signal]);
    return agent.run({ stage: 'rollout', ...request, sampleIndex, signal }).catch((error) => {
      note(error);
      throw error;
    });
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
