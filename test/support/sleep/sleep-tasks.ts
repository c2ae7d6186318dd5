import { TaskRecord } from '../../../src/sleep/index.ts';
import { SessionDigest } from '../../../src/transcripts/index.ts';

/** A task of sleep whose intent is like no other's, unless one is given. */
export function sleepTask(id: string, fields: Partial<TaskRecord> = {}): TaskRecord {
  return TaskRecord.parse({ id, project: '/p', intent: `${id}a ${id}b ${id}c`, ...fields });
}

/** A session in which a person asked `userPrompts`. */
export function session(sessionId: string, fields: Partial<SessionDigest> & { userPrompts: string[] }): SessionDigest {
  const day = '2026-01-02T10:00:00.000Z';
  const nUserTurns = fields.userPrompts.length;
  return SessionDigest.parse({
    source: 'claude',
    sessionId,
    project: '/p',
    startedAt: day,
    endedAt: day,
    nUserTurns,
    ...fields,
  });
}
