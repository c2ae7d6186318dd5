import { z } from 'zod';
import { type EpochPlan, SkillError, type SkillOptConfig, shuffle } from '../../core/contracts/index.ts';
import { withContentIds } from '../read/content-id.ts';
import { loadItems } from '../read/load-items.ts';
import { itemId, parseRows } from '../read/parse-rows.ts';
import { checkUniqueIds, type Row } from '../read/row.ts';
import { tasksInvalid } from '../read/tasks-invalid.ts';
import { requireSplitName, SPLIT_NAMES, type SplitName } from '../split/split-name.ts';
import { drawSplits } from '../split/split-ratio.ts';
import { BaseDataLoader, type BatchSpec, type DataItem } from './base-data-loader.ts';
import { findDataFile, isFolder } from './find-data-file.ts';
import { materializeSplits } from './materialize-splits.ts';
import { planItems } from './plan-train-epoch.ts';
import { planSplitLoader, type SplitLoaderOptions, type SplitLoaderPlan } from './split-loader-options.ts';

const Data = z.looseObject({ id: itemId }, 'must be an object');
const HINT = 'An item is an object, with an id of its own or none: {"id": "t1", …}.';

type ItemsBySplit = ReadonlyMap<SplitName, readonly DataItem[]>;
type PlanOf<Mode extends SplitLoaderPlan['mode']> = Extract<SplitLoaderPlan, { readonly mode: Mode }>;

/**
 * Items from disk in train, val and test: from folders that are split already (`split_dir`), or drawn by ratio from
 * one file (`ratio`). What its options leave open may stand in the run's `extras`, under the same names. `valid_seen` and
 * `selection` are other names of val, `valid_unseen` of test; any other name throws `TASKS_INVALID`.
 *
 * Override `loadSplitItems` to read a format of your own.
 */
export class SplitDataLoader extends BaseDataLoader {
  readonly #options: SplitLoaderOptions;
  #items: ItemsBySplit | undefined;

  constructor(options: SplitLoaderOptions = {}) {
    super();
    this.#options = options;
  }

  override async setup(config: Pick<SkillOptConfig, 'extras'>): Promise<void> {
    const plan = planSplitLoader(this.#options, config.extras);
    const rows = plan.mode === 'split_dir' ? await this.#readFolders(plan) : await this.#drawByRatio(plan);
    const limit = plan.limit === 0 ? undefined : plan.limit;
    this.#items = new Map([...rows].map(([name, found]) => [name, found.slice(0, limit).map((row) => row.value)]));
  }

  /** The items of one split; `splitPath` is its folder. Also read from here: the one file or folder of ratio mode. */
  async loadSplitItems(splitPath: string): Promise<readonly unknown[]> {
    const { rows } = withContentIds(await loadItems(await findDataFile(splitPath)), wholeItem);
    return parseRows(rows, { schema: Data, hint: HINT }).map((row) => row.value);
  }

  /** All items, for a split by ratio. */
  loadRawItems(dataPath: string): Promise<readonly unknown[]> {
    return this.loadSplitItems(dataPath);
  }

  override getItems(split: string): readonly DataItem[] {
    const name = requireSplitName(split, 'the data loader');
    const items = this.#ready().get(name);
    if (items) return items;
    throw tasksInvalid([`the data loader has no ${name} split: there is no folder "${name}"`], 'Make the folder.');
  }

  /** A random batch of the train split: a function of the seed. */
  override buildTrainBatch(batchSize: number, seed: number): BatchSpec<readonly DataItem[]> {
    return trainBatch(shuffle(this.getItems('train'), seed).slice(0, batchSize), seed);
  }

  /** In the order of the file, without any dice. */
  override buildEvalBatch(envNum: number, split: string, seed: number): BatchSpec<readonly DataItem[]> {
    const payload = this.getItems(split).slice(0, envNum === 0 ? undefined : envNum);
    return { phase: 'eval', split, seed, batchSize: payload.length, payload, metadata: {} };
  }

  /** Every train item once per epoch, in an order of the epoch's own. */
  override planTrainEpoch(plan: EpochPlan): BatchSpec<readonly DataItem[]>[] {
    return planItems(this.getItems('train'), plan).map(({ items, seed }) => trainBatch(items, seed));
  }

  #ready(): ItemsBySplit {
    if (this.#items) return this.#items;
    throw new SkillError('ENV_INVALID', 'the data loader was asked for items before setup', {
      hint: 'Await setup(config) first. An adapter that overrides setup calls super.setup(config).',
    });
  }

  async #readFolders({ splitDir }: PlanOf<'split_dir'>): Promise<Map<SplitName, Row<DataItem>[]>> {
    const splits = new Map<SplitName, Row<DataItem>[]>();
    for (const name of SPLIT_NAMES) {
      const path = `${splitDir}/${name}`;
      if (await isFolder(path)) splits.set(name, toRows(await this.loadSplitItems(path), path));
    }
    if (splits.size === 0) {
      throw tasksInvalid(
        [`${splitDir}: expected the folders train, val and test, got none of them`],
        'Check splitDir.',
      );
    }
    checkUniqueIds([...splits.values()].flat());
    return splits;
  }

  async #drawByRatio(plan: PlanOf<'ratio'>): Promise<Map<SplitName, Row<DataItem>[]>> {
    const { dataPath: source, splitRatio: ratio, splitSeed: seed, splitOutputDir } = plan;
    const rows = toRows(await this.loadRawItems(source), source);
    checkUniqueIds(rows);
    const drawn = drawSplits(rows.length, { ratio, seed });
    const rowsOf = (name: SplitName) => drawn[name].map((index) => rows[index]!);
    if (splitOutputDir !== undefined) {
      const valuesOf = (name: SplitName) => rowsOf(name).map((row) => row.value);
      const splits = { train: valuesOf('train'), val: valuesOf('val'), test: valuesOf('test') };
      await materializeSplits(splitOutputDir, splits, { ratio, seed, source });
    }
    return new Map(SPLIT_NAMES.map((name) => [name, rowsOf(name)]));
  }
}

function trainBatch(payload: readonly DataItem[], seed: number): BatchSpec<readonly DataItem[]> {
  return { phase: 'train', split: 'train', seed, batchSize: payload.length, payload, metadata: {} };
}

/** Without an id, all of an item is what tells it from others: only its env knows what its fields mean. */
const wholeItem = (item: object) => item;

/** An id is written into it, and the user's own objects are left alone. */
const copyOf = (value: unknown) =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : value;

/** What a user's own loader gives is checked as files are. */
function toRows(items: readonly unknown[], path: string): Row<DataItem>[] {
  const given = items.map((value, index) => ({ value: copyOf(value), where: `${path}: item ${index + 1}` }));
  const { rows } = withContentIds(given, wholeItem);
  return parseRows(rows, { schema: Data, hint: HINT });
}
