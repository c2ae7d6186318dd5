import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { z } from 'zod';
import { type EpochPlan, SkillError, type SkillOptConfig, shuffle } from '../../core/contracts/index.ts';
import { isObject, joined } from '../../core/text/index.ts';
import {
  checkUniqueIds,
  itemId,
  loadItems,
  parseRows,
  type Row,
  TASK_FILE_ENDINGS,
  tasksInvalid,
} from '../../imports/index.ts';
import { withContentIds } from '../qa/content-id.ts';
import { drawGroups, drawSplits, requireSplitName, SPLIT_NAMES, type SplitName, type Splits } from '../split.ts';
import {
  BaseDataLoader,
  type BatchSpec,
  type DataItem,
  planItems,
  planSplitLoader,
  type SplitLoaderOptions,
  type SplitLoaderPlan,
} from './base-data-loader.ts';

const Data = z.looseObject({ id: itemId }, 'must be an object');
const HINT = 'An item is an object, with an id of its own or none: {"id": "t1", …}.';

type ItemsBySplit = ReadonlyMap<SplitName, readonly DataItem[]>;
type PlanOf<Mode extends SplitLoaderPlan['mode']> = Extract<SplitLoaderPlan, { readonly mode: Mode }>;

/**
 * Items from disk in train, val and test: from folders that are split already (`split_dir`), or drawn by ratio from
 * one file (`ratio`). The run's `extras` complete its options, under the same names. `valid_seen` and `selection` are
 * aliases of val, `valid_unseen` of test; other names throw `TASKS_INVALID`. Override `loadSplitItems` to read your own format.
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

  /** What an item shares with others, such as a document. A split by ratio keeps items that share one together. */
  groupsOf(_item: DataItem): readonly string[] {
    return [];
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
    const problem = `${splitDir}: expected the folders train, val and test, got none of them`;
    if (splits.size === 0) throw tasksInvalid([problem], 'Check splitDir.');
    checkUniqueIds([...splits.values()].flat());
    return splits;
  }

  async #drawByRatio(plan: PlanOf<'ratio'>): Promise<Map<SplitName, Row<DataItem>[]>> {
    const { dataPath: source, splitRatio: ratio, splitSeed: seed, splitOutputDir } = plan;
    const rows = toRows(await this.loadRawItems(source), source);
    checkUniqueIds(rows);
    const groups = joined(rows.map(({ value }) => this.groupsOf(value)));
    const isGrouped = groups.length < rows.length;
    const drawn = isGrouped ? drawGroups(groups, { ratio, seed }) : drawSplits(rows.length, { ratio, seed });
    const rowsOf = (name: SplitName) => drawn[name].flatMap((at) => groups[at]!.map((index) => rows[index]!));
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

/** Without an id, the whole item identifies it: only its environment knows what its fields mean. */
const wholeItem = (item: object) => item;

/** Items of a user's own loader are checked like files. They are copied, because ids are written into them. */
function toRows(items: readonly unknown[], path: string): Row<DataItem>[] {
  const given = items.map((value, index) => {
    return { value: isObject(value) ? { ...value } : value, where: `${path}: item ${index + 1}` };
  });
  const { rows } = withContentIds(given, wholeItem);
  return parseRows(rows, { schema: Data, hint: HINT });
}

/** As task files, but a list before lines: folders in SkillOpt's layout hold `.json`. */
const ENDINGS = ['.json', ...TASK_FILE_ENDINGS.filter((ending) => ending !== '.json')];

/** The path itself when it is a file. In a folder, the first `.json` file by name, else the first of another format. */
export async function findDataFile(path: string): Promise<string> {
  if (!(await isFolder(path))) return path;
  const names = (await readdir(path)).filter((name) => !name.startsWith('.')).sort();
  const found = ENDINGS.flatMap((ending) => names.filter((name) => extname(name).toLowerCase() === ending))[0];
  if (found !== undefined) return join(path, found);
  const problem = `${path}: expected a file ending in ${ENDINGS.join(', ')}, got ${names.join(', ') || 'an empty folder'}`;
  throw tasksInvalid([problem], 'Put one file with a list of items into it.');
}

/** Also `false` for what does not exist. */
const isFolder = async (path: string) => (await stat(path).catch(() => undefined))?.isDirectory() ?? false;

/** How a split was drawn, and from which file. */
type Origin = { readonly ratio: string; readonly seed: number; readonly source: string };

const MANIFEST = 'split_manifest.json';
const ITEM_FILES = SPLIT_NAMES.map((name) => join(name, 'items.json'));

/**
 * Writes a split as `train/items.json` and so on, and a manifest with its counts, origin and SHA-256. Files that fit
 * are left alone; others are written again. Refuses a folder whose splits have no manifest: somebody else made them.
 */
async function materializeSplits(folder: string, splits: Splits<unknown>, origin: Origin): Promise<void> {
  const { ratio, seed, source } = origin;
  const texts = SPLIT_NAMES.map((name) => toText(splits[name]));
  const counts = Object.fromEntries(SPLIT_NAMES.map((name) => [name, splits[name].length]));
  const described = { version: 1, counts, split_ratio: ratio, split_seed: seed, source, sha256: hashOf(texts) };
  const manifest = toText(described);
  const readText = (name: string) => readFile(join(folder, name), 'utf8').catch(() => undefined);
  const [oldManifest, ...oldTexts] = await Promise.all([MANIFEST, ...ITEM_FILES].map(readText));
  if (oldManifest === manifest && hashOf(oldTexts) === hashOf(texts)) return;
  if (oldManifest === undefined && oldTexts.some((text) => text !== undefined)) throw notOurs(folder);
  await Promise.all(ITEM_FILES.map((name, index) => writeText(folder, name, texts[index]!)));
  // Last, so that a write that was cut short leaves a manifest that does not fit.
  await writeText(folder, MANIFEST, manifest);
}

function hashOf(texts: readonly (string | undefined)[]): string {
  return createHash('sha256').update(JSON.stringify(texts)).digest('hex');
}

const toText = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

async function writeText(folder: string, name: string, text: string): Promise<void> {
  const path = join(folder, name);
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  } catch (cause) {
    throw new SkillError('CONFIG_INVALID', `the split cannot be written: ${(cause as Error).message}`, {
      cause,
      hint: 'Choose another splitOutputDir, or leave it out to keep the split in memory.',
    });
  }
}

function notOurs(folder: string): SkillError {
  return new SkillError('CONFIG_INVALID', `${folder} holds splits without a ${MANIFEST}, which would be overwritten`, {
    hint: 'To use them, set splitMode to split_dir and splitDir to this folder. Else choose another splitOutputDir.',
  });
}
