import type { SkillOptConfigInput } from '../../../src/index.ts';
import { configOf, OPTIMIZERS, type Side } from '../trainer/setting.ts';

export { NOISE, SIDES, type Side, WORLD } from '../trainer/setting.ts';

export const OPTIMIZER = OPTIMIZERS[0];
const WORKERS = 16;

/** The trainer's bench at its smallest size: both sides make about as many target calls. */
export const configFor = (side: Side): SkillOptConfigInput => ({ ...configOf(side, 680), workers: WORKERS });

export type Latency = {
  readonly ms: number;
  /** The default may take so many times as long as the paper's protocol. */
  readonly mostRatio: number;
  /** And so many times as long as a plain Python trainer of that protocol. */
  readonly mostOfPlain: number;
  /** A run may take so many times its rounds. */
  readonly mostOfRounds?: number;
  readonly seeds: number;
  /** Runs that mostly wait do not disturb each other. */
  readonly isTogether?: boolean;
};

export const LATENCIES: readonly Latency[] = [
  { ms: 20, mostRatio: 1.5, mostOfPlain: 1.2, mostOfRounds: 1.3, seeds: 5 },
  { ms: 100, mostRatio: 1.35, mostOfPlain: 1, mostOfRounds: 1.05, seeds: 3 },
  { ms: 500, mostRatio: 1.3, mostOfPlain: 1, seeds: 3, isTogether: true },
];
export const QUICK_LATENCIES: readonly Latency[] = LATENCIES.slice(0, 2).map((latency) => ({ ...latency, seeds: 2 }));

/** Of a default run in a process of its own, with its start. */
export const MOST_CPU_MS = 1_500;
export const MOST_PEAK_MB = 120;
