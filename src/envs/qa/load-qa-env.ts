import type { SkillEnv } from '../../core/env.ts';
import { SkillError } from '../../core/errors.ts';
import type { EnvProject } from '../env-project.ts';
import { SplitDataLoader } from '../loader/split-data-loader.ts';
import { loadItems } from '../read/load-items.ts';
import { parseRows } from '../read/parse-rows.ts';
import type { Row } from '../read/row.ts';
import { splitItems } from '../split/split-items.ts';
import type { Splits } from '../split/split-ratio.ts';
import { QA_ITEM_HINT, QaItem, type QaItemInput } from './qa-item.ts';
import { SimpleQAEnv } from './simple-qa-env.ts';

/**
 * Questions from the project's task file, each in the split that its row names or that the ratio gives it. Also read:
 * data in SkillOpt's layout, named by `splitDir` or `dataPath`.
 */
export async function loadQaEnv(project: EnvProject): Promise<SkillEnv> {
  const { train, val, test } = await loadSplits(project);
  const { maxCompletionTokens } = project.extras as { maxCompletionTokens?: number };
  const limit = maxCompletionTokens === undefined ? {} : { maxCompletionTokens };
  const judges = project.judges ? { judges: project.judges } : {};
  const splits = { trainItems: train, valItems: val, testItems: test };
  return new SimpleQAEnv({ ...splits, ...limit, ...judges }) as unknown as SkillEnv;
}

async function loadSplits({ tasks, splitRatio, splitSeed, extras, ...data }: EnvProject): Promise<Splits<QaItemInput>> {
  if (tasks !== undefined) return splitItems(await loadQaItems(tasks), { ratio: splitRatio, seed: splitSeed });
  const { splitMode, splitDir, dataPath } = data;
  if (splitDir === undefined && dataPath === undefined) throw noTasks();
  const where = { ...(splitMode && { splitMode }), ...(splitDir && { splitDir }), ...(dataPath && { dataPath }) };
  const loader = new SplitDataLoader({ ...where, splitRatio, splitSeed });
  await loader.setup({ extras });
  const itemsOf = (split: string) => loader.getItems(split) as unknown as readonly QaItemInput[];
  return { train: itemsOf('train'), val: itemsOf('val'), test: itemsOf('test') };
}

function noTasks(): SkillError {
  const hint = 'Name it, for example tasks: tasks.jsonl';
  return new SkillError('CONFIG_INVALID', 'The qa environment needs tasks, and no file is named.', { hint });
}

/** The tasks of a file, checked, each with its place and the split that its `split` field names, if any. */
export async function loadQaItems(path: string): Promise<Row<QaItem>[]> {
  const rows = await loadItems(path);
  return parseRows(rows.map(withSplit), { schema: QaItem, hint: QA_ITEM_HINT });
}

function withSplit(row: Row): Row {
  const split = (row.value as { split?: unknown } | null)?.split;
  return split == null || split === '' ? row : { ...row, split: String(split) };
}
