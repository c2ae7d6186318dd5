import { ModelCallError, SkillError } from '../core/errors.ts';
import type { ChatModel, ChatRequest } from '../core/model.ts';
import type { StageDeps } from './stage-deps.ts';

/** Draws that an environment may number inside one rollout before they run into the next one's. */
const DRAWS_PER_ROLLOUT = 1000;

type Rollout = {
  readonly sampleIndex: number;
  /** Aborted when the rollout is over: no call outlives it. */
  readonly signal: AbortSignal;
};

/**
 * The target as one rollout sees it: calls belong to this rollout's draw and may not start once the run stops.
 * It remembers an outage, so that an environment that swallows errors cannot turn one into a score.
 */
export function watchTarget(deps: StageDeps, rollout: Rollout): { target: ChatModel; throwOutage(): void } {
  const { target, stop, callTimeoutMs } = deps;
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
      return await target.complete(toRolloutRequest(request, rollout));
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
    throw new ModelCallError(`${target.id} has not answered for ${Math.round(waitedMs / 1000)} s`);
  };

  return { target: { id: target.id, complete }, throwOutage };
}

function toRolloutRequest(request: ChatRequest, { sampleIndex, signal }: Rollout): ChatRequest {
  const own = request.signal ?? signal;
  return {
    stage: 'rollout',
    ...request,
    signal: own === signal ? signal : AbortSignal.any([own, signal]),
    sampleIndex: sampleIndex * DRAWS_PER_ROLLOUT + (request.sampleIndex ?? 0),
  };
}
