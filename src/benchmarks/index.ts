export type { Benchmark } from './benchmark.ts';
export { type BenchmarkEnv, benchmarkEnv } from './benchmark-env.ts';
export { BENCHMARK_NAMES, findBenchmark, isBenchmark, whyNoAgent } from './benchmarks.ts';
export { type BenchmarkCheck, checkBenchmark } from './data/check.ts';
export { describeLeaks } from './data/leaks.ts';
export type { ProbeOptions, Unscorable } from './data/probe-items.ts';
export { type Pulled, pullBenchmark, SPLIT_BY } from './data/pull.ts';
