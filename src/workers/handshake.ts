import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { parseJson } from '../core/text/index.ts';
import { keyOf } from './redis.ts';

/**
 * All that a score depends on besides the skill, the task and the draw, as hashes by name: the version of skillopt, the
 * environment and the files of its module, settings, time limits, the agent. Models are asked by the process that trains.
 */
export type Fingerprint = {
  /** What people call the project: workers of other projects are not warned about. */
  readonly project: string;
  readonly parts: Readonly<Record<string, string>>;
};

export const hashOf = (value: unknown): string =>
  createHash('sha256')
    .update(typeof value === 'string' ? value : JSON.stringify(value))
    .digest('hex')
    .slice(0, 32);

/** Attempts are found under it, so that a worker with anything else never sees one. */
export const queueName = ({ parts }: Fingerprint): string =>
  `rollouts-${hashOf(Object.entries(parts).sort(([a], [b]) => (a < b ? -1 : 1)))}`;

/** The parts that differ, by name, those of one side alone included. */
export function differences(one: Fingerprint, other: Fingerprint): string[] {
  const names = new Set([...Object.keys(one.parts), ...Object.keys(other.parts)]);
  return [...names].filter((name) => one.parts[name] !== other.parts[name]).sort();
}

/** A process that is here, as others see it. */
export type Presence = Fingerprint & {
  readonly role: 'run' | 'worker';
  readonly address: string;
  readonly host: string;
  readonly pid: number;
  readonly concurrency?: number;
  readonly inFlight?: number;
  readonly done?: number;
};

/** A process that is not renewed within this time is gone. */
const GONE_S = 15;
export const RENEW_MS = 5_000;

const presenceKey = (role: Presence['role'], address: string) => keyOf('here', role, address);

export const present = (redis: Redis, presence: Presence): Promise<unknown> =>
  redis.set(presenceKey(presence.role, presence.address), JSON.stringify(presence), 'EX', GONE_S);

export const leave = (redis: Redis, { role, address }: Pick<Presence, 'role' | 'address'>): Promise<unknown> =>
  redis.del(presenceKey(role, address));

export const isHere = async (redis: Redis, role: Presence['role'], address: string): Promise<boolean> =>
  (await redis.exists(presenceKey(role, address))) === 1;

export async function whoIsHere(redis: Redis, role: Presence['role']): Promise<Presence[]> {
  const keys: string[] = [];
  for (let cursor = '0'; ; ) {
    const [next, found] = await redis.scan(cursor, 'MATCH', presenceKey(role, '*'), 'COUNT', 1_000);
    keys.push(...found);
    if (next === '0') break;
    cursor = next;
  }
  const texts = keys.length === 0 ? [] : await redis.mget(...keys);
  return texts.flatMap((text) => (parseJson(text ?? '') as Presence | undefined) ?? []);
}
