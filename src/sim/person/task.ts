import { rubricOf } from './kind.ts';
import type { Session } from './session.ts';
import { hexOf, PROJECT, sessionId } from './transcript.ts';

/** A task as a miner gives it: what `TaskRecord` has. */
export type PersonTask = {
  id: string;
  project: string;
  intent: string;
  contextExcerpt: string;
  system: string;
  attemptedSolution: string;
  outcome: 'success' | 'fail' | 'mixed' | 'unknown';
  referenceKind: 'exact' | 'rubric' | 'rule' | 'command' | 'none';
  reference: string;
  judge: Record<string, unknown>;
  tags: string[];
  sourceSessions: string[];
  split: 'train' | 'val' | 'test';
  origin: 'real' | 'dream';
  derivedFrom: string;
  skillHint: string;
};

/** By what its answers are measured: the judge's opinion, or checks that a program makes. */
export type JudgedBy = 'rubric' | 'rule';

/** What a perfect miner makes of a day: one task for each thing that was asked, with everything that the person wants. */
export function tasksIn(sessions: readonly Session[], seed: number, judgedBy: JudgedBy): PersonTask[] {
  const tasks = new Map<string, PersonTask>();
  for (const session of sessions) {
    const task = toTask(session, seed, judgedBy);
    const before = task && tasks.get(task.id);
    if (before) before.sourceSessions.push(...task.sourceSessions);
    else if (task) tasks.set(task.id, task);
  }
  return [...tasks.values()];
}

function toTask({ slot, request, turns, feedback }: Session, seed: number, by: JudgedBy): PersonTask | undefined {
  if (!request) return undefined;
  const { kind, text } = request;
  const checks = kind.things.map(({ kept }) => ({ op: 'contains', arg: kept }));
  return {
    id: `sim_${hexOf(0, ['task', text], 12)}`,
    project: `~/${PROJECT}`,
    intent: text,
    contextExcerpt: '',
    system: '',
    attemptedSolution: turns[1]!.text,
    outcome: feedback.includes('neg:no') ? 'fail' : feedback.length > 0 ? 'success' : 'unknown',
    referenceKind: by,
    reference: by === 'rubric' ? rubricOf(kind.things) : '',
    judge: by === 'rubric' ? {} : { checks },
    tags: [],
    sourceSessions: [sessionId(seed, slot)],
    split: 'train',
    origin: 'real',
    derivedFrom: '',
    skillHint: '',
  };
}
