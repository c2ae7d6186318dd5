import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { type EnvCard, type Sandbox, type ScoringTrial, type SkillEnv, SkillError } from '../core/contracts/index.ts';
import { defined, plural } from '../core/text/index.ts';
import { type EnvProject, requireSplitName, type Splits } from '../envs/index.ts';
import type { Attempts, Benchmark, BenchmarkItem, RowReader } from './benchmark.ts';
import { DataFiles } from './data/data-files.ts';
import { describeFlaws, withoutFlawed } from './data/flaws.ts';
import { describeLeaks, findLeaks } from './data/leaks.ts';
import { allOf, BenchmarkLoader, hashOf, rootNotes, rootsOf, whyOthers } from './data/load-items.ts';
import { probeItems } from './data/probe-items.ts';
import { missingFolders, misspelt, parseCommon, parseSettings } from './settings.ts';

/** An environment of a benchmark, which tells an agent's workspace what to lay into it. */
export type BenchmarkEnv<I extends BenchmarkItem = BenchmarkItem> = SkillEnv<I> &
  Pick<Attempts<I>, 'workspaceFiles' | 'probe'>;

export type BenchmarkProject = EnvProject & { readonly sandbox: Sandbox };

/** The items of a project that names a benchmark, read and checked, and how they are attempted. */
export type OpenBenchmark = {
  readonly attempts: Attempts;
  readonly splits: Splits<BenchmarkItem>;
  readonly card: EnvCard;
  /** Why the items are not those that were pulled. */
  readonly changed: string | undefined;
  /** What a person should know before a run, besides what stands against the items. */
  readonly warnings: readonly string[];
};

export async function openBenchmark(benchmark: Benchmark, project: BenchmarkProject): Promise<OpenBenchmark> {
  const settings = parseSettings(benchmark, project.extras);
  const { named, leaveOutFlawed } = parseCommon(benchmark, project.extras);
  const { files, splits: all } = await readSplits(benchmark, { ...project, settings, named });
  const splits = leaveOutFlawed ? withoutFlawed(benchmark, all) : all;
  const attempts = benchmark.open({ settings, files, sandbox: project.sandbox });
  const { rule, prompt, version } = attempts;
  const card = {
    benchmark: benchmark.name,
    rule,
    promptSha256: sha256(`${prompt}\n${version}`),
    dataSha256: hashOf(splits),
  };
  const isPart = Number(project.extras.limit ?? 0) > 0; // a part has another hash
  const others = whyOthers(project.splitDir, all);
  const changed = isPart ? undefined : others;
  const folders = named.map((path) => resolve(project.directory, path));
  const warnings = [
    ...misspelt(benchmark, project.extras),
    ...missingFolders(folders),
    ...(isPart && others !== undefined ? [NOT_COMPARED] : []),
    ...rootNotes({ ...dataOf(project), directory: project.directory }),
    ...(attempts.warnings ?? []),
  ];
  return { attempts, splits, card, changed, warnings };
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** The environment of a project that names a benchmark. */
export const benchmarkEnv = async (benchmark: Benchmark, project: BenchmarkProject): Promise<BenchmarkEnv> =>
  toEnv(benchmark, await openBenchmark(benchmark, project));

async function readSplits(
  benchmark: Benchmark,
  project: BenchmarkProject & { readonly settings: unknown; readonly named: readonly string[] },
) {
  const { directory, splitDir, splitMode, splitRatio, splitSeed, settings, named } = project;
  const { dataPath } = dataOf(project);
  if (splitDir === undefined && dataPath === undefined) throw noData(benchmark);
  const roots = [...named.map((path) => resolve(directory, path)), ...rootsOf({ splitDir, dataPath, directory })];
  const files = new DataFiles(roots);
  const reader: RowReader = { files, keep: () => Promise.reject(new Error(PULL_FIRST)) };
  const where = defined({ splitDir, dataPath, splitMode });
  const loader = new BenchmarkLoader({ benchmark, reader, settings, ...where, splitRatio, splitSeed });
  await loader.setup({ extras: project.extras });
  const itemsOf = (split: string) => loader.getItems(split);
  return { files, splits: { train: itemsOf('train'), val: itemsOf('val'), test: itemsOf('test') } };
}

const dataOf = ({ splitDir, dataPath, tasks }: BenchmarkProject) => ({
  splitDir,
  dataPath: dataPath ?? (splitDir === undefined ? tasks : undefined),
});

const NOT_COMPARED = 'a limit takes part of the items, so they were not compared with those that were pulled';

const PULL_FIRST = 'files inside rows must be unpacked first: skillopt bench pull';

/** So many items are tried when a run begins: a broken scorer shows at the first. `bench check` tries all. */
const TRIED = 3;

function toEnv(benchmark: Benchmark, opened: OpenBenchmark): BenchmarkEnv {
  const { attempts, splits, card, changed } = opened;
  const all = allOf(splits);
  const types = [...new Set(all.flatMap(({ taskType }) => taskType ?? []))];
  return {
    name: benchmark.name,
    version: `${attempts.version}, prompt ${card.promptSha256.slice(0, 12)}`,
    isVersionWhole: true,
    card,
    warnings: [
      ...(changed === undefined ? [] : [changed]),
      ...opened.warnings,
      ...describeFlaws(benchmark, all),
      ...describeLeaks(findLeaks(benchmark, splits)),
    ],
    ...defined({
      needsImages: attempts.needsImages,
      targetCalls: attempts.targetCalls,
      close: attempts.close && (() => attempts.close!()),
    }),
    getItems: (split) => splits[requireSplitName(split, benchmark.name)],
    getInitialSkill: () => benchmark.initialSkill,
    getTaskTypes: () => types,
    async setup() {
      await attempts.setup?.();
    },
    async rolloutOne(context) {
      const { taskType } = context.item;
      const output = await attempts.attempt(context);
      return taskType === undefined ? output : { taskType, ...output };
    },
    probe: (item, signal) => attempts.probe(item, signal),
    ...(attempts.workspaceFiles ? { workspaceFiles: (item) => attempts.workspaceFiles!(item) } : {}),
    tryScoring: () => trySome(benchmark, attempts, [...splits.val, ...splits.train, ...splits.test].slice(0, TRIED)),
  };
}

async function trySome(
  { name }: Benchmark,
  attempts: Attempts,
  items: readonly BenchmarkItem[],
): Promise<ScoringTrial> {
  const { unscorable, givenAway, tried } = await probeItems(attempts, items);
  const [first] = unscorable;
  if (first) {
    throw new SkillError('ENV_INVALID', `${name}: item ${first.id} cannot be scored: ${first.why}`, {
      hint: `Find all such items: skillopt bench check ${name}`,
    });
  }
  const untried = items.length - tried;
  const rest = untried === 0 ? '' : `, and ${plural(untried, 'item')} hold none to try`;
  const right = `the right answer scores 1 on ${plural(tried, 'item')}${rest}`;
  if (tried === 0 || givenAway.length < tried) return { detail: right, passesAll: false };
  const detail = `${name}: an empty answer scores 1 on each of ${plural(tried, 'item')} that ${tried === 1 ? 'was' : 'were'} tried`;
  return { detail, warning: `${detail}: no score says anything (skillopt bench check ${name})`, passesAll: true };
}

function noData({ name, source }: Benchmark): SkillError {
  const hint = `Name a folder with train/, val/ and test/: splitDir: FOLDER. It is made by: skillopt bench pull ${name}. A small set of ours: examples/benchmarks/${name}`;
  return new SkillError('CONFIG_INVALID', `${name} needs data, and none is named. ${source.get.join(' ')}`, { hint });
}
