import { z } from 'zod';
import { Proposal } from '../staging/proposal.ts';
import { TaskRecord } from '../task-record.ts';

export const STATE_VERSION = 1;

/** A session as it was when it was looked at. One that has grown since has another end or another number of turns. */
const Considered = z.object({ sessionId: z.string(), endedAt: z.string(), turns: z.number().int().nonnegative() });

/** How far the sessions of one source are done with. */
export const Cursor = z.object({
  /** Sessions that ended before are done with, whatever they are: in UTC. */
  from: z.string(),
  /** Those that ended later, and were considered. Any other one is still waiting. */
  considered: z.array(Considered).default([]),
});
export type Cursor = z.infer<typeof Cursor>;
/** By the name of the source. */
export type Cursors = Readonly<Record<string, Cursor>>;

const ProjectState = z.object({
  /** The number of the last night. */
  night: z.number().int().nonnegative().default(0),
  cursors: z.record(z.string(), Cursor).default({}),
  /** The models of the last night: with others, scores cannot be compared. */
  modelKey: z.string().default(''),
});

/** What a night did, a line of it. Other fields are the night's own. */
export const NightRow = z.looseObject({
  project: z.string(),
  night: z.number().int().positive(),
  /** When it ended, in UTC. */
  at: z.string(),
  accepted: z.boolean().default(false),
  nTasks: z.number().int().nonnegative().default(0),
});
export type NightRow = z.infer<typeof NightRow>;

const ArchivedTask = z.object({ at: z.string(), night: z.number().int().nonnegative(), task: TaskRecord });

/** That somebody agreed to send texts of their sessions to a provider. */
export const Consent = z.object({
  provider: z.string().min(1),
  by: z.string(),
  at: z.string(),
  /** Which wording they agreed to. Another wording is asked again. */
  textVersion: z.number().int().positive(),
});
export type Consent = z.infer<typeof Consent>;

/** What is known of one document over nights. */
const OverNights = z.object({
  project: z.string(),
  document: z.string(),
  /** For those who propose the next edits; it never becomes a part of the document by itself. */
  guidance: z.string().default(''),
  /** The last night that asked for it; 0 before. */
  askedNight: z.number().int().nonnegative().default(0),
  /** Of the learned block that was last compared. */
  digest: z.string(),
  /** Of every task that was learned from, the last time: by its id. */
  scores: z
    .record(z.string(), z.object({ score: z.number(), night: z.number().int(), digest: z.string() }))
    .default({}),
});
export type OverNights = z.infer<typeof OverNights>;

/** What sleep knows between nights. */
export const SleepState = z.object({
  version: z.literal(STATE_VERSION).default(STATE_VERSION),
  /** By the path of the project. */
  projects: z.record(z.string(), ProjectState).default({}),
  history: z.array(NightRow).default([]),
  taskArchive: z.array(ArchivedTask).default([]),
  consents: z.array(Consent).default([]),
  /** What nights proposed, oldest first. */
  proposals: z.array(Proposal).default([]),
  overNights: z.array(OverNights).default([]),
});
export type SleepState = z.infer<typeof SleepState>;

export const emptyState: SleepState = SleepState.parse({});

const projectOf = (state: SleepState, project: string) => state.projects[project] ?? ProjectState.parse({});

export const nightOf = (state: SleepState, project: string): number => projectOf(state, project).night;
export const modelKeyOf = (state: SleepState, project: string): string => projectOf(state, project).modelKey;
export const cursorsOf = (state: SleepState, project: string): Cursors => projectOf(state, project).cursors;

type FinishedNight = {
  readonly row: NightRow;
  /** Where the harvest of this night got to. None when its tasks came from a file: no session was considered then. */
  readonly cursors?: Cursors | undefined;
  readonly tasks?: readonly TaskRecord[] | undefined;
  readonly modelKey?: string | undefined;
};

/** After a night. Sources that it did not harvest keep their cursors. */
export function recordNight(state: SleepState, { row, cursors, tasks = [], ...models }: FinishedNight): SleepState {
  const { project, night, at } = row;
  const before = projectOf(state, project);
  const { modelKey = before.modelKey } = models;
  const now = { night: Math.max(before.night, night), cursors: { ...before.cursors, ...cursors }, modelKey };
  const archived = tasks.filter(({ origin }) => origin !== 'dream').map((task) => ({ at, night, task }));
  return {
    ...state,
    projects: { ...state.projects, [project]: now },
    history: [...state.history, row],
    taskArchive: [...state.taskArchive, ...archived],
  };
}

export function giveConsent(state: SleepState, consent: Consent): SleepState {
  const others = state.consents.filter(({ provider }) => provider !== consent.provider);
  return { ...state, consents: [...others, consent] };
}

export const hasConsent = (state: SleepState, wanted: Pick<Consent, 'provider' | 'textVersion'>): boolean =>
  state.consents.some(
    ({ provider, textVersion }) => provider === wanted.provider && textVersion === wanted.textVersion,
  );
