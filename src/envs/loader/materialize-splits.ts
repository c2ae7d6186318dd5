import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { SkillError } from '../../core/contracts/index.ts';
import { SPLIT_NAMES } from '../split/split-name.ts';
import type { Splits } from '../split/split-ratio.ts';

type Origin = {
  readonly ratio: string;
  readonly seed: number;
  /** Where the items came from. */
  readonly source: string;
};

const MANIFEST = 'split_manifest.json';
const ITEM_FILES = SPLIT_NAMES.map((name) => join(name, 'items.json'));

/**
 * Writes a split as `train/items.json` and so on, and a manifest with its counts, origin and SHA-256. Files that fit
 * are left alone; others are written again. Refuses a folder whose splits have no manifest: somebody else made them.
 */
export async function materializeSplits(folder: string, splits: Splits<unknown>, origin: Origin): Promise<void> {
  const texts = SPLIT_NAMES.map((name) => toText(splits[name]));
  const manifest = toText(describeSplits(splits, texts, origin));
  const [oldManifest, ...oldTexts] = await Promise.all([MANIFEST, ...ITEM_FILES].map((name) => readText(folder, name)));
  if (oldManifest === manifest && hashOf(oldTexts) === hashOf(texts)) return;
  if (oldManifest === undefined && oldTexts.some((text) => text !== undefined)) throw notOurs(folder);
  await Promise.all(ITEM_FILES.map((name, index) => writeText(folder, name, texts[index]!)));
  // Last, so that a write that was cut short leaves a manifest that does not fit.
  await writeText(folder, MANIFEST, manifest);
}

function describeSplits(splits: Splits<unknown>, texts: readonly string[], { ratio, seed, source }: Origin) {
  const counts = Object.fromEntries(SPLIT_NAMES.map((name) => [name, splits[name].length]));
  return { version: 1, counts, split_ratio: ratio, split_seed: seed, source, sha256: hashOf(texts) };
}

function hashOf(texts: readonly (string | undefined)[]): string {
  return createHash('sha256').update(JSON.stringify(texts)).digest('hex');
}

const toText = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

async function readText(folder: string, name: string): Promise<string | undefined> {
  return readFile(join(folder, name), 'utf8').catch(() => undefined);
}

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
