export type { Attempts, Benchmark, BenchmarkItem, BenchmarkSource, Flaw, Probe } from './benchmark.ts';
export { type BenchmarkEnv, benchmarkEnv } from './benchmark-env.ts';
export { BENCHMARK_NAMES, findBenchmark, isBenchmark } from './benchmarks.ts';
