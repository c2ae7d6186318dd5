import { createContext, Script } from 'node:vm';

const context = createContext({ work: () => undefined });
const script = new Script('work()');

/** A busy machine gives a process as little as this part of its time. */
const LEAST_SHARE = 1 / 16;

export function cpuSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** Calls something, and ends it once it has had `mostMs` of CPU, since others may use the machine too. A refusal is an answer. */
export function callWithin(mostMs: number, work: () => unknown): { readonly ms: number; readonly answer: unknown } {
  for (let wallMs = mostMs; ; wallMs *= 4) {
    const before = process.cpuUsage();
    context.work = work;
    try {
      const answer: unknown = script.runInContext(context, { timeout: wallMs });
      return { ms: cpuSince(before), answer };
    } catch (error) {
      const ms = cpuSince(before);
      const isEnded = (error as { code?: unknown } | undefined)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
      if (!isEnded || ms >= 0.9 * mostMs || wallMs * LEAST_SHARE >= mostMs) return { ms, answer: undefined };
    }
  }
}
