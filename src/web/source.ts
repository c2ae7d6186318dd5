import type {
  AttemptPage,
  AttemptsPage,
  ComparePage,
  DoingPage,
  EventsPage,
  GridColumn,
  NightsPage,
  Problem,
  ProposalPage,
  RunPage,
  RunsPage,
  StepPage,
  TasksPage,
} from '../core/page/index.ts';

export type RunListener = {
  readonly onPage: (page: RunPage) => void;
  readonly onDoing: (doing: DoingPage) => void;
  /** `null` when it is over. */
  readonly onProblem: (problem: Problem | null) => void;
};

export type AttemptQuery = Readonly<Partial<Record<'task' | 'version' | 'q' | 'cursor', string>>>;
export type EventQuery = { readonly from: number; readonly count: number; readonly type?: string | undefined };

/** Where the screens have their data from: a server, or the report itself. */
export interface Source {
  readonly isLive: boolean;
  /** Where a reader begins. */
  readonly home: string;
  /** What a report does not hold, a sentence each. */
  readonly leftOut: readonly string[];
  runs(): Promise<RunsPage>;
  /** Listens to a run until the answer is called. */
  openRun(run: string, listener: RunListener): () => void;
  tasks(run: string): Promise<TasksPage>;
  columns(run: string, versions: readonly number[]): Promise<readonly GridColumn[]>;
  skill(run: string, version: number): Promise<string>;
  step(run: string, step: number): Promise<StepPage>;
  attempts(run: string, query: AttemptQuery): Promise<AttemptsPage>;
  attempt(run: string, file: string, place: number): Promise<AttemptPage>;
  events(run: string, query: EventQuery): Promise<EventsPage>;
  compare(a: string, b: string, split?: string): Promise<ComparePage>;
  nights(): Promise<NightsPage>;
  /** Only where the page may act. */
  stop?(run: string): Promise<void>;
  adopt?(proposal: ProposalPage, project: string): Promise<void>;
}

/** The only problem that says nothing about the run. */
export const LOST: Problem = {
  message: 'The connection is lost. Trying again.',
  hint: 'Is skillopt ui still running?',
};

/** A failure whose words are for the reader. */
export class SourceError extends Error {
  readonly hint: string;

  constructor({ message, hint }: Problem) {
    super(message);
    this.name = 'SourceError';
    this.hint = hint;
  }
}

export const problemOf = (thrown: unknown): Problem => ({
  message: thrown instanceof Error ? thrown.message : String(thrown),
  hint: thrown instanceof SourceError ? thrown.hint : '',
});
