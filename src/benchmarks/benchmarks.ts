import type { Benchmark } from './benchmark.ts';

type Load = () => Promise<Benchmark>;

/** The benchmarks by name. A project that names one loads that one alone. */
const LOADERS = new Map<string, Load>([
  ['searchqa', async () => (await import('./searchqa/searchqa.ts')).searchqa as unknown as Benchmark],
  [
    'spreadsheetbench',
    async () => (await import('./spreadsheetbench/spreadsheetbench.ts')).spreadsheetbench as unknown as Benchmark,
  ],
]);

/** The name in SkillOpt's configs, where it is another. */
const ALIASES = new Map([['livemathematicianbench', 'livemath']]);

export const BENCHMARK_NAMES: readonly string[] = [...LOADERS.keys()];

/** The benchmark of this name, or `undefined`. */
export const findBenchmark = async (name: string): Promise<Benchmark | undefined> =>
  LOADERS.get(ALIASES.get(name) ?? name)?.();

export const isBenchmark = (name: string): boolean => LOADERS.has(ALIASES.get(name) ?? name);
