/** One batch that an environment is asked to set up. */
export type BatchSpec<Payload = unknown> = {
  /** A batch of `train` is built for training, one of any other split for evaluation. */
  readonly phase: 'train' | 'eval';
  /** As it was asked for: an alias such as `valid_seen` stays one. */
  readonly split: string;
  readonly seed: number;
  /** How many episodes it has. */
  readonly batchSize: number;
  /** What the loader chose, usually a list of items. A simulator makes its episodes from the seed. */
  readonly payload?: Payload;
  readonly metadata: Readonly<Record<string, unknown>>;
};
