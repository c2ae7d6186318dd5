import type { Benchmark } from './benchmark.ts';

type Load = () => Promise<Benchmark>;

/** The benchmarks by name. A project that names one loads that one alone. */
const LOADERS = new Map<string, Load>([
  ['searchqa', async () => (await import('./searchqa/searchqa.ts')).searchqa as unknown as Benchmark],
  ['livemath', async () => (await import('./livemath/livemath.ts')).livemath as unknown as Benchmark],
  ['officeqa', async () => (await import('./officeqa/officeqa.ts')).officeqa as unknown as Benchmark],
  [
    'spreadsheetbench',
    async () => (await import('./spreadsheetbench/spreadsheetbench.ts')).spreadsheetbench as unknown as Benchmark,
  ],
  ['docvqa', async () => (await import('./docvqa/docvqa.ts')).docvqa as unknown as Benchmark],
  ['alfworld', async () => (await import('./alfworld/alfworld.ts')).alfworld as unknown as Benchmark],
]);

/** The name in SkillOpt's configs, where it is another. */
const ALIASES = new Map([['livemathematicianbench', 'livemath']]);

export const BENCHMARK_NAMES: readonly string[] = [...LOADERS.keys()];

/** The benchmark of this name, or `undefined`. */
export const findBenchmark = async (name: string): Promise<Benchmark | undefined> =>
  LOADERS.get(ALIASES.get(name) ?? name)?.();

export const isBenchmark = (name: string): boolean => LOADERS.has(ALIASES.get(name) ?? name);

/** What an agent in a workspace cannot be asked, and why. */
const WITHOUT_AGENTS = new Map([
  ['docvqa', 'its questions are about images, and an agent is asked in text'],
  ['spreadsheetbench', 'the target answers with a program, and we run it'],
  ['alfworld', 'the target acts step by step in a game that we hold'],
]);

/** Why an agent cannot attempt the items of this benchmark, or `undefined` if it can. */
export const whyNoAgent = (name: string): string | undefined => WITHOUT_AGENTS.get(name);
