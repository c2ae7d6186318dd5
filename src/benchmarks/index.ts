export type { Attempts, Benchmark, BenchmarkItem, BenchmarkSource, Probe } from './benchmark.ts';
export { type BenchmarkEnv, benchmarkEnv } from './benchmark-env.ts';
export { BENCHMARK_NAMES, findBenchmark, isBenchmark, whyNoAgent } from './benchmarks.ts';
