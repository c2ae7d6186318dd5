export type { Benchmark } from './benchmark.ts';
export { type BenchmarkEnv, benchmarkEnv } from './benchmark-env.ts';
export { BENCHMARK_NAMES, findBenchmark, isBenchmark, whyNoAgent } from './benchmarks.ts';
export { type BenchmarkCheck, checkBenchmark } from './data/check.ts';
export { SPLIT_BY } from './data/divide.ts';
export { COPY_LINKS } from './data/find-rows.ts';
export { describeLeaks } from './data/leaks.ts';
export type { ProbeOptions, Unscorable } from './data/probe-items.ts';
export { type Pulled, pullBenchmark } from './data/pull.ts';
