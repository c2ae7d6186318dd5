import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { z } from 'zod';
import { type EnvCard, parseWith, type Sandbox, type SkillEnv, SkillError } from '../core/contracts/index.ts';
import { defined, plural, toCamelCase } from '../core/text/index.ts';
import { type EnvProject, requireSplitName, type Splits } from '../envs/index.ts';
import type { Attempts, Benchmark, BenchmarkItem, RowReader } from './benchmark.ts';
import { DataFiles } from './data/data-files.ts';
import { describeLeaks, findLeaks } from './data/leaks.ts';
import { BenchmarkLoader, rootsOf } from './data/load-items.ts';

/** An environment of a benchmark, which tells an agent's workspace what to lay into it. */
export type BenchmarkEnv<I extends BenchmarkItem = BenchmarkItem> = SkillEnv<I> &
  Pick<Attempts<I>, 'workspaceFiles' | 'probe'>;

type BenchmarkProject = EnvProject & { readonly sandbox: Sandbox };

/** What every benchmark reads of `extras`: where files lie that items name, and whether items with a known flaw take part. */
const Common = z.object({
  dataRoot: z.string().optional(),
  dataDirs: z.union([z.string().transform((path) => [path]), z.array(z.string())]).optional(),
  leaveOutFlawed: z.union([z.boolean(), z.stringbool()]).default(false),
});

/** The environment of a project that names a benchmark. Its items are read and checked here. */
export async function benchmarkEnv(benchmark: Benchmark, project: BenchmarkProject): Promise<BenchmarkEnv> {
  const extras = toCamelCase(withoutBlanks(project.extras)) as Readonly<Record<string, unknown>>;
  const title = `The settings of ${benchmark.name} are not valid.`;
  const settings = parseWith(benchmark.settings, extras, title);
  const { dataRoot, dataDirs = [], leaveOutFlawed } = parseWith(Common, extras, title);
  const named = [...(dataRoot === undefined ? [] : [dataRoot]), ...dataDirs];
  const data = await readSplits(benchmark, { ...project, settings, named });
  const attempts = benchmark.open({ settings, files: data.files, sandbox: project.sandbox });
  const splits = leaveOutFlawed ? withoutFlawed(benchmark, data.splits) : data.splits;
  return toEnv({ benchmark, attempts, splits });
}

const allOf = <I>({ train, val, test }: Splits<I>): I[] => [...train, ...val, ...test];

function withoutFlawed(benchmark: Benchmark, splits: Splits<BenchmarkItem>): Splits<BenchmarkItem> {
  const flawed = new Set(benchmark.flawsOf?.(allOf(splits)).flatMap(({ ids }) => ids));
  const kept = (items: readonly BenchmarkItem[]) => items.filter(({ id }) => !flawed.has(id));
  return { train: kept(splits.train), val: kept(splits.val), test: kept(splits.test) };
}

const flawWarnings = (benchmark: Benchmark, items: readonly BenchmarkItem[]): string[] =>
  (benchmark.flawsOf?.(items) ?? []).map(
    ({ what, ids }) => `${ids.length} of ${items.length} items ${what}. extras.leaveOutFlawed: true leaves them out`,
  );

const withoutBlanks = (extras: object) =>
  Object.fromEntries(Object.entries(extras).filter(([, value]) => value != null && value !== ''));

async function readSplits(
  benchmark: Benchmark,
  project: BenchmarkProject & { readonly settings: unknown; readonly named: readonly string[] },
) {
  const { directory, tasks, splitDir, splitMode, splitRatio, splitSeed, settings, named } = project;
  const dataPath = project.dataPath ?? tasks;
  if (splitDir === undefined && dataPath === undefined) throw noData(benchmark);
  const roots = [...named.map((path) => resolve(directory, path)), ...rootsOf({ splitDir, dataPath, directory })];
  const files = new DataFiles(roots);
  const reader: RowReader = { files, keep: () => Promise.reject(new Error(PULL_FIRST)) };
  const where = defined({ splitDir, dataPath, splitMode });
  const loader = new BenchmarkLoader({ benchmark, reader, settings, ...where, splitRatio, splitSeed });
  await loader.setup({ extras: project.extras });
  const itemsOf = (split: string) => loader.getItems(split) as readonly BenchmarkItem[];
  return { files, splits: { train: itemsOf('train'), val: itemsOf('val'), test: itemsOf('test') } };
}

const PULL_FIRST = 'files inside rows must be unpacked first: skillopt bench pull';

type EnvParts = {
  readonly benchmark: Benchmark;
  readonly attempts: Attempts;
  readonly splits: Splits<BenchmarkItem>;
};

/** Probes of a run that begins: a broken scorer shows at the first item. `bench check` tries all. */
const PROBED = 3;

export function toEnv({ benchmark, attempts, splits }: EnvParts): BenchmarkEnv {
  const all = allOf(splits);
  const types = [...new Set(all.flatMap(({ taskType }) => taskType ?? []))];
  const card = cardOf({ benchmark, attempts, splits });
  return {
    name: benchmark.name,
    version: `${attempts.version}, prompt ${card.promptSha256.slice(0, 12)}`,
    isVersionWhole: true,
    card,
    warnings: [
      ...(attempts.warnings ?? []),
      ...flawWarnings(benchmark, all),
      ...describeLeaks(findLeaks(benchmark, splits)),
    ],
    ...defined({ needsImages: attempts.needsImages, close: attempts.close && (() => attempts.close!()) }),
    getItems: (split) => splits[requireSplitName(split, benchmark.name)],
    getInitialSkill: () => benchmark.initialSkill,
    getTaskTypes: () => types,
    async setup() {
      await attempts.setup?.();
    },
    rolloutOne: (context) => attempts.attempt(context),
    probe: (item, signal) => attempts.probe(item, signal),
    ...(attempts.workspaceFiles ? { workspaceFiles: (item) => attempts.workspaceFiles!(item) } : {}),
    async tryScoring() {
      const tried = [...splits.val, ...splits.train].slice(0, PROBED);
      const probes = await Promise.all(tried.map(async (item) => ({ item, ...(await attempts.probe(item)) })));
      const broken = probes.find(({ right }) => right !== 1);
      if (broken) throw unscorable(benchmark, broken);
      return {
        detail: `the right answer scores 1 on ${plural(tried.length, 'item')}, and no answer at most ${Math.max(0, ...probes.map(({ nothing }) => nothing ?? 0))}`,
        passesAll: probes.length > 0 && probes.every(({ nothing }) => nothing === 1),
      };
    },
  };
}

function unscorable(
  { name }: Benchmark,
  {
    item,
    right,
    problem,
  }: { readonly item: BenchmarkItem; readonly right: number | undefined; readonly problem?: string },
): SkillError {
  const why = problem ?? `the right answer scores ${right}`;
  return new SkillError('ENV_INVALID', `${name}: item ${item.id} cannot be scored: ${why}`, {
    hint: `See all such items: skillopt bench check ${name}`,
  });
}

/** What a result of this data under these rules is told with. */
function cardOf({ benchmark, attempts, splits }: EnvParts): EnvCard {
  return {
    benchmark: benchmark.name,
    rule: attempts.rule,
    promptSha256: sha256(attempts.prompt),
    dataSha256: sha256(JSON.stringify([splits.train, splits.val, splits.test])),
  };
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

function noData({ name, source }: Benchmark): SkillError {
  const hint = `Name a folder with train/, val/ and test/: splitDir: FOLDER. It is made by: skillopt bench pull ${name}. A small set of ours: examples/benchmarks/${name}`;
  return new SkillError('CONFIG_INVALID', `${name} needs data, and none is named. ${source.get.join(' ')}`, { hint });
}
