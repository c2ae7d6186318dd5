import { statSync } from 'node:fs';
import {
  BENCHMARK_NAMES,
  type Benchmark,
  type BenchmarkCheck,
  checkBenchmark,
  findBenchmark,
  holdsFolder,
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
  if (input.out?.trim() === '' || from.trim() === '')
    throw new SkillError('USAGE', 'expected the name of a folder, got nothing', { hint: 'Name one.' });
  const out = resolvePath(cwd, input.out ?? dataFolder(benchmark.name));
  const place = { cwd, isAlone: holdsFolder(resolvePath(cwd, from), cwd) }; // its file may come with the data, and be code
  const { project, directory } = await loadProject({ flags: { env: benchmark.name }, overrides, ...place });
  const pulled = await pullBenchmark(benchmark, {
    ...{ ...rest, ...options, from: requireFolder(resolvePath(cwd, from)), out },
    ids: ids === undefined ? undefined : requireFolder(resolvePath(cwd, ids)),
    directory,
    extras: project.extras,
    sandbox: openSandbox(project.sandbox),
  });
  return { ...pulled, out };
}

function requireFolder(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory()) return path;
  const [problem, hint] =
    found === undefined ? ['does not exist', 'Check the path.'] : ['is a file', 'Name the folder that it lies in.'];
  throw new SkillError('USAGE', `expected a folder; ${path} ${problem}`, { hint });
}

type CheckInput = DataInput & { readonly data?: string | undefined; readonly config?: string | undefined };

/**
 * What stands against a number that is measured on the data of a benchmark: that of a folder, that of the project here if it is of this
 * benchmark, or that which was pulled.
 */
export async function checkData(name: string, input: CheckInput, options: ProbeOptions): Promise<BenchmarkCheck> {
  const benchmark = await requireBenchmark(name);
  const { data, config, cwd, overrides } = input;
  const isOfProject = data === undefined && (config !== undefined || (await envHere(input)) === benchmark.name);
  const folder = isOfProject ? undefined : requirePulled(resolvePath(cwd, data ?? dataFolder(benchmark.name)), name);
  const isAlone = data !== undefined && holdsFolder(resolvePath(cwd, data), cwd);
  const { project, directory } = await loadProject({ flags: { env: benchmark.name }, cwd, overrides, config, isAlone });
  const { splitRatio, splitSeed, extras } = project;
  const named = { tasks: project.tasks, ...dataKeys(project) };
  const place = folder === undefined ? named : { tasks: undefined, splitDir: folder };
  const settings = { directory, ...place, splitRatio, splitSeed, extras, sandbox: openSandbox(project.sandbox) };
  const found = await checkBenchmark(benchmark, settings, options);
  const beside = data === undefined || config !== undefined ? undefined : findConfigFile(resolvePath(cwd, data));
  if (beside === undefined) return found;
  const note = `${beside} is not used, since the data alone was named: name it as the project file`; // it may hold code
  return { ...found, warnings: [...found.warnings, note] };
}

async function envHere({ cwd, overrides }: CheckInput): Promise<string | undefined> {
  if (findConfigFile(cwd) === undefined) return undefined;
  return (await loadProject({ flags: {}, cwd, overrides })).project.env;
}

function requirePulled(path: string, name: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return path;
  const hint = `Read your data first: skillopt bench pull ${name}. Or name the folder that holds data.`;
  throw new SkillError('USAGE', `there is no folder ${path}`, { hint });
}
