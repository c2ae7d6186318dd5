import type { SimulatedPerson } from '../../../src/public/sim.ts';
import type { Measure } from '../../../src/sim/person/kind.ts';

/** What a night is about: the texts of the learned blocks of the live documents. */
export type DocumentName = 'skill' | 'memory';
export type Blocks = Readonly<Record<DocumentName, string>>;

/** The models, the tasks of a day and the truth. */
export type NightPerson = Pick<SimulatedPerson, 'tasksOf' | 'target' | 'judge' | 'optimizer' | 'trueScore'>;

export type NightState = {
  /** As they are this evening: what was staged on earlier nights is adopted in the morning. */
  readonly blocks: Blocks;
  /** What the runner gave back on the night before; `undefined` on the first. */
  readonly kept: unknown;
};

type NightInput = {
  readonly person: NightPerson;
  /** Counts from 1. */
  readonly day: number;
  readonly state: NightState;
  /** The documents that may change, in their order. */
  readonly documents: readonly DocumentName[];
  /** Of splits and shuffles. */
  readonly seed: number;
};

type NightOutcome = {
  /** What a person is asked to adopt: the whole block, and the gain that the report names. */
  readonly staged: readonly { readonly document: DocumentName; readonly block: string; readonly gain: number | null }[];
  /** Of all models. */
  readonly calls: number;
  readonly kept?: unknown;
};

/** One night, from the tasks of the day to what is staged. Tasks that say `val` or `test` keep their split. */
export type NightRunner = (input: NightInput) => Promise<NightOutcome>;

export type NamedRunner = {
  readonly run: NightRunner;
  /** In which its gains are reported. */
  readonly measure: Measure;
  /** Whether it promises the goals, or is only shown beside them. */
  readonly isPromised: boolean;
};
