import { existsSync } from 'node:fs';
import {
  BENCHMARK_NAMES,
  type Benchmark,
  type BenchmarkCheck,
  checkBenchmark,
  findBenchmark,
  type ProbeOptions,
  type Pulled,
  pullBenchmark,
  type SPLIT_BY,
} from '../benchmarks/index.ts';
import { SkillError } from '../core/contracts/index.ts';
import { suggestion } from '../core/text/index.ts';
import { dataKeys, findConfigFile, loadProject, resolvePath } from '../project/index.ts';
import { openSandbox } from '../workspaces/index.ts';

type BenchmarkRow = Pick<Benchmark, 'name' | 'title' | 'published' | 'source'>;

export async function listBenchmarks(): Promise<BenchmarkRow[]> {
  const all = await Promise.all(BENCHMARK_NAMES.map(requireBenchmark));
  return all.map(({ name, title, published, source }) => ({ name, title, published, source }));
}

async function requireBenchmark(name: string): Promise<Benchmark> {
  const benchmark = await findBenchmark(name);
  if (benchmark) return benchmark;
  throw new SkillError('USAGE', `there is no benchmark "${name}"${suggestion(name, BENCHMARK_NAMES)}`, {
    hint: `There are: ${BENCHMARK_NAMES.join(', ')}`,
  });
}

/** Where a benchmark's data is kept unless somebody says otherwise. */
const dataFolder = (name: string): string => `bench/${name}`;

type DataInput = {
  readonly cwd: string;
  /** `key=value`, with keys of a SkillOpt config or with ours. */
  readonly overrides: readonly string[];
};

type PullInput = DataInput & {
  readonly from: string;
  readonly out?: string | undefined;
  readonly ids?: string | undefined;
  readonly splitBy?: (typeof SPLIT_BY)[number] | undefined;
  readonly ratio: string;
  readonly seed: number;
  readonly isAsPublished?: boolean | undefined;
};

/** Reads data of a benchmark that a person has, checks it, and writes its splits. */
export async function pullData(
  name: string,
  input: PullInput,
  options: ProbeOptions,
): Promise<Pulled & { readonly out: string }> {
  const benchmark = await requireBenchmark(name);
  const { cwd, from, ids, overrides, ...rest } = input;
  const out = resolvePath(cwd, input.out ?? dataFolder(benchmark.name));
  const { project } = await loadProject({ flags: { env: benchmark.name }, cwd, overrides });
  const pulled = await pullBenchmark(benchmark, {
    ...{ ...rest, ...options, from: requireFolder(resolvePath(cwd, from)), out },
    ids: ids === undefined ? undefined : requireFolder(resolvePath(cwd, ids)),
    extras: project.extras,
    sandbox: openSandbox(project.sandbox),
  });
  return { ...pulled, out };
}

function requireFolder(path: string): string {
  if (existsSync(path)) return path;
  throw new SkillError('USAGE', `the folder ${path} does not exist`, { hint: 'Check the path.' });
}

type CheckInput = DataInput & { readonly data?: string | undefined; readonly config?: string | undefined };

/** What stands against a number that is measured on the data of a benchmark: that of a folder, or that of the project here. */
export async function checkData(name: string, input: CheckInput, options: ProbeOptions): Promise<BenchmarkCheck> {
  const benchmark = await requireBenchmark(name);
  const { data, config, cwd, overrides } = input;
  const isOfProject = data === undefined && (config !== undefined || findConfigFile(cwd) !== undefined);
  const folder = isOfProject ? undefined : requireFolder(resolvePath(cwd, data ?? dataFolder(benchmark.name)));
  const beside = folder === undefined ? undefined : findConfigFile(folder);
  const { project, directory } = await loadProject({
    ...{ flags: { env: benchmark.name }, cwd, overrides },
    config: config ?? beside,
  });
  const { splitRatio, splitSeed, extras } = project;
  const named = { tasks: project.tasks, ...dataKeys(project) };
  const place = folder === undefined ? named : { tasks: undefined, splitDir: folder };
  const settings = { directory, ...place, splitRatio, splitSeed, extras, sandbox: openSandbox(project.sandbox) };
  return checkBenchmark(benchmark, settings, options);
}
