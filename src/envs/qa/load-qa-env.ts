import { type SkillEnv, SkillError } from '../../core/contracts/index.ts';
import type { EnvProject } from '../env-project.ts';
import { describeLeftOut } from '../import/left-out.ts';
import { SplitDataLoader } from '../loader/split-data-loader.ts';
import type { Row } from '../read/row.ts';
import { splitItems } from '../split/split-items.ts';
import type { Splits } from '../split/split-ratio.ts';
import { countDrafts, type DraftCount } from './draft-marks.ts';
import { loadTasks, type TaskOptions } from './load-tasks.ts';
import type { QaItem, QaItemInput } from './qa-item.ts';
import { SimpleQAEnv } from './simple-qa-env.ts';

/**
 * Questions from the project's task file, each in the split that its row names or that the ratio gives it. Also read:
 * data in SkillOpt's layout, named by `splitDir` or `dataPath`.
 */
export async function loadQaEnv(project: EnvProject): Promise<SkillEnv> {
  const { splits, warnings, drafts } = await loadSplits(project);
  const { train, val, test } = splits;
  const { maxCompletionTokens } = project.extras as { maxCompletionTokens?: number };
  const limit = maxCompletionTokens === undefined ? {} : { maxCompletionTokens };
  const judges = project.judges ? { judges: project.judges } : {};
  const items = { trainItems: train, valItems: val, testItems: test };
  return new SimpleQAEnv({ ...items, ...limit, ...judges, warnings, drafts }) as unknown as SkillEnv;
}

type Loaded = {
  readonly splits: Splits<QaItemInput>;
  readonly warnings: readonly string[];
  readonly drafts?: DraftCount;
};

async function loadSplits({ tasks, splitRatio, splitSeed, extras, ...data }: EnvProject): Promise<Loaded> {
  if (tasks !== undefined) {
    const { rows, leftOut, marks } = await loadTasks(tasks, data);
    const drafts = countDrafts(rows.flatMap(({ where }) => marks.get(where) ?? []));
    const warnings = leftOut.length === 0 ? [] : [describeLeftOut(tasks, leftOut)];
    return { splits: splitItems(rows, { ratio: splitRatio, seed: splitSeed }), warnings, drafts };
  }
  const { splitMode, splitDir, dataPath } = data;
  if (splitDir === undefined && dataPath === undefined) throw noTasks();
  const where = { ...(splitMode && { splitMode }), ...(splitDir && { splitDir }), ...(dataPath && { dataPath }) };
  const loader = new SplitDataLoader({ ...where, splitRatio, splitSeed });
  await loader.setup({ extras });
  const itemsOf = (split: string) => loader.getItems(split) as unknown as readonly QaItemInput[];
  return { splits: { train: itemsOf('train'), val: itemsOf('val'), test: itemsOf('test') }, warnings: [] };
}

function noTasks(): SkillError {
  const hint = 'Name it, for example tasks: tasks.jsonl';
  return new SkillError('CONFIG_INVALID', 'The qa environment needs tasks, and no file is named.', { hint });
}

/** The tasks of a file, checked, each with its place and the split that its `split` field names, if any. */
export async function loadQaItems(path: string, options: TaskOptions = {}): Promise<readonly Row<QaItem>[]> {
  return (await loadTasks(path, options)).rows;
}
