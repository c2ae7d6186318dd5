import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { z } from 'zod';
import { SkillError } from '../../core/contracts/index.ts';
import { shownPath } from '../shown-path.ts';
import { processStart, UNKNOWN_START } from './process-start.ts';

const Owner = z.object({
  pid: z.int().positive(),
  startedAt: z.string(),
  host: z.string(),
  /** When the lock was taken, UTC; older locks do not say. */
  at: z.iso.datetime().optional().catch(undefined),
});
type Owner = z.infer<typeof Owner>;

/** What to do about a lock, by who holds it; and how private its file is. */
export type LockWords = { readonly whenOwn: string; readonly whenAlive: string; readonly mode?: number };

/** What a lock says about this process. No two are equal, so that a process recognises its own. */
export async function describeOwner(): Promise<string> {
  const startedAt = (await processStart(process.pid)) ?? UNKNOWN_START;
  const owner: Owner = { pid: process.pid, startedAt, host: hostname(), at: new Date().toISOString() };
  return `${JSON.stringify({ ...owner, id: randomUUID() })}\n`;
}

/** Throws `RUN_LOCKED` unless the owner of a lock is dead. A text that cannot be read was torn by the crash that killed it. */
export async function refuseIfAlive(path: string, text: string, words: LockWords): Promise<void> {
  const owner = parseOwner(text);
  if (owner === undefined) return;
  if (owner.host !== hostname()) {
    const hint = `If that machine is gone, delete ${shownPath(path)} and start again.`;
    throw locked(path, `process ${owner.pid} on ${owner.host}${since(owner)}`, hint);
  }
  const start = await processStart(owner.pid);
  if (start !== owner.startedAt && start !== UNKNOWN_START) return;
  if (owner.pid === process.pid) throw locked(path, `this process, ${owner.pid}`, words.whenOwn);
  throw locked(path, `process ${owner.pid}${since(owner)}`, words.whenAlive);
}

/** When a lock was taken, if it says so. */
export const takenAt = (text: string): string | undefined => parseOwner(text)?.at;

const since = ({ at }: Owner) => (at === undefined ? '' : ` since ${at.slice(0, 19).replace('T', ' ')} UTC`);

export function locked(path: string, owner: string, hint: string): SkillError {
  return new SkillError('RUN_LOCKED', `${shownPath(dirname(path))} is being written by ${owner}`, { hint });
}

function parseOwner(text: string): Owner | undefined {
  try {
    return Owner.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
