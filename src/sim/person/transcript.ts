import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createDraw } from '../draw.ts';
import { rubricOf } from './kind.ts';
import type { Session, Slot } from './session.ts';

const PROJECT = 'rig';
const BRANCH = 'main';
const MOST_FINALS = 5;

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];
const [MORNING, EVENING] = [9 * HOUR, 23 * HOUR];
const SESSION_MINUTES = 70;
const TURN_MINUTES = 4;

type Author = { readonly seed: number; readonly firstDay: string };

const midnight = (firstDay: string, day: number) => Date.parse(firstDay) + (day - 1) * DAY;
const timeOf = ({ firstDay }: Author, { day, at }: Slot, turn: number) =>
  midnight(firstDay, day) + MORNING + (at * SESSION_MINUTES + turn * TURN_MINUTES) * MINUTE;
const utc = (ms: number) => new Date(ms).toISOString();

export const eveningOf = (firstDay: string, day: number) => new Date(midnight(firstDay, day) + EVENING);

function hexOf(seed: number, texts: readonly string[], digits: number): string {
  const draw = createDraw(seed, texts);
  const parts = Array.from({ length: Math.ceil(digits / 8) }, (_, part) => Math.floor(draw(`part ${part}`) * 2 ** 32));
  const hex = parts.map((part) => part.toString(16).padStart(8, '0')).join('');
  return hex.slice(0, digits);
}

export function sessionId(seed: number, { day, at }: Slot): string {
  const hex = hexOf(seed, ['session id', String(day), String(at)], 32);
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** Claude Code names a project's folder after its path. */
const folderFor = (home: string) =>
  join(home, '.claude', 'projects', join(home, PROJECT).replace(/[^A-Za-z0-9]/g, '-'));

export function toDigest(session: Session, author: Author, home: string) {
  const { slot, turns, feedback } = session;
  const id = sessionId(author.seed, slot);
  const said = (role: 'user' | 'assistant') => turns.filter((turn) => turn.role === role).map(({ text }) => text);
  const [asked, answered] = [said('user'), said('assistant')];
  return {
    source: 'claude',
    sessionId: id,
    project: `~/${PROJECT}`,
    gitBranch: BRANCH,
    startedAt: utc(timeOf(author, slot, 0)),
    endedAt: utc(timeOf(author, slot, turns.length - 1)),
    userPrompts: asked,
    assistantFinals: answered.slice(-MOST_FINALS),
    ...{ toolsUsed: [] as string[], skillsUsed: [] as string[], filesTouched: [] as string[] },
    feedbackSignals: [...feedback],
    nUserTurns: asked.length,
    nAssistantTurns: answered.length,
    rawPath: `~${join(folderFor(home), `${id}.jsonl`).slice(home.length)}`,
  };
}

/** As harvesting gives it: a `SessionDigest`. */
export type PersonSession = ReturnType<typeof toDigest>;

/** Writes the session as Claude Code does, and gives the file's path. */
export async function writeTranscript(session: Session, author: Author, home: string): Promise<string> {
  const { slot, turns } = session;
  const id = sessionId(author.seed, slot);
  const common = { cwd: join(home, PROJECT), sessionId: id, gitBranch: BRANCH, version: '2.0.0', userType: 'external' };
  const lines = turns.map(({ role, text }, turn) => {
    const message = role === 'user' ? { role, content: text } : { role, content: [{ type: 'text', text }] };
    return JSON.stringify({ type: role, ...common, message, timestamp: utc(timeOf(author, slot, turn)) });
  });
  await mkdir(folderFor(home), { recursive: true });
  const path = join(folderFor(home), `${id}.jsonl`);
  await writeFile(path, `${lines.join('\n')}\n`);
  const ended = timeOf(author, slot, turns.length - 1) / 1_000;
  await utimes(path, ended, ended);
  return path;
}

/** As a miner gives it: a `TaskRecord`. */
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

/** By a judge's opinion, or by checks that a program makes. */
export type JudgedBy = 'rubric' | 'rule';

/** A perfect miner: one task for each thing that was asked, with all that the person wants. */
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
