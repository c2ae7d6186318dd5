import { onAbort } from '../on-abort.ts';

type LinkedController = { readonly controller: AbortController; release(): void };

/**
 * A controller that aborts when any of `signals` does, with the same reason, until it is released. In place of
 * `AbortSignal.any`, whose composites stay reachable from a run's long-lived signal call after call.
 */
export function linkedController(...signals: readonly (AbortSignal | undefined)[]): LinkedController {
  const controller = new AbortController();
  const links = signals.map((signal) => onAbort(signal, (reason) => controller.abort(reason)));
  return {
    controller,
    release() {
      for (const unlink of links) unlink();
    },
  };
}
