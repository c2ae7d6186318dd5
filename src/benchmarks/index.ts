export type { Attempts, Benchmark, BenchmarkItem, BenchmarkSource, Probe } from './benchmark.ts';
export { type BenchmarkEnv, type BenchmarkProject, benchmarkEnv } from './benchmark-env.ts';
export { BENCHMARK_NAMES, findBenchmark, isBenchmark, whyNoAgent } from './benchmarks.ts';
export { type BenchmarkCheck, checkBenchmark } from './data/check.ts';
export { describeLeaks, type Leak } from './data/leaks.ts';
export type { ProbeOptions, Unscorable } from './data/probe-items.ts';
export { type Pulled, type PullOptions, pullBenchmark, SPLIT_BY } from './data/pull.ts';
