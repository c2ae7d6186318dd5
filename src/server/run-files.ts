import { open, readFile, realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { z } from 'zod';
import { type EditReport, Patch, type RawPatch } from '../core/document/index.ts';
import { flipsBetween, type RunView, type StepPage, stepOutcomes } from '../core/page/index.ts';
import type { Refusal as RefusedEdit, TriedEdit } from '../core/run/index.ts';
import { parseJson, toCamelCase } from '../core/text/index.ts';
import { isMissing } from '../stores/index.ts';
import { Refusal } from './failure.ts';

/** The real path of a file of a run. A link that leads out of its folder is not followed. */
export async function pathWithin(run: string, file: string): Promise<string> {
  const [folder, path] = await Promise.all([realpath(run), realpath(join(run, file))]);
  if (path.startsWith(folder + sep)) return path;
  throw new Refusal(404, 'this file lies outside of its run, and is not read', 'Put a copy of it into the run.');
}

const text = z.string().catch('');
const Tried = z.preprocess(toCamelCase, z.looseObject({ op: text, target: text, content: text }));

/** What is read of files that anybody may have changed: enough that a page can show it. */
const FILES = {
  patches: ['raw_patches.json', listOf({ patch: Patch, sourceType: text, batchSize: z.number().catch(0) })],
  merged: ['merged_patch.json', Patch],
  ranked: ['ranked_patch.json', Patch],
  refused: ['refused_edits.json', z.array(Tried)],
  repeats: ['repeated_edits.json', z.array(Tried)],
  report: ['edit_apply_report.json', listOf({ op: text, target: text, contentPreview: text, status: text })],
} as const satisfies Record<string, readonly [string, z.ZodType]>;

function listOf(shape: z.ZodRawShape) {
  return z.array(z.preprocess(toCamelCase, z.looseObject(shape)));
}

/** Written only when there is something to say. */
const OPTIONAL: readonly string[] = ['refused', 'repeats'];

export async function stepPage(path: string, view: RunView, step: number): Promise<StepPage> {
  const record = view.state.history.find((one) => one.step === step) ?? null;
  const outcomes = stepOutcomes(view, step);
  const made = view.versions.filter((one) => one.step === step && one.index > 0 && one.kind !== 'guidance');
  if (!record && !outcomes && made.length === 0)
    throw new Refusal(404, `there is no step ${step}`, `Steps so far: ${view.state.stepsDone}`);
  const folder = `steps/step_${String(step).padStart(4, '0')}`;
  const names = Object.keys(FILES) as (keyof typeof FILES)[];
  const found = await Promise.all(
    names.map(async (name) => [name, await readPart(path, `${folder}/${FILES[name][0]}`, FILES[name][1])] as const),
  );
  const parts = Object.fromEntries(found) as Readonly<Record<keyof typeof FILES, unknown>>;
  return {
    ...{ step, record, failed: outcomes?.failed ?? [], passed: outcomes?.passed ?? [] },
    patches: parts.patches as RawPatch[] | null,
    merged: parts.merged as Patch | null,
    ranked: parts.ranked as Patch | null,
    refused: (parts.refused as RefusedEdit[] | null) ?? [],
    repeats: (parts.repeats as TriedEdit[] | null) ?? [],
    report: parts.report as EditReport[] | null,
    versions: made.map(({ index, parent }) => ({ version: index, ...flipsBetween(view, parent ?? 0, index) })),
    missing: names.filter((name) => parts[name] === null && !OPTIONAL.includes(name)).map((name) => FILES[name][0]),
  };
}

/** `null` for a file that is not there or cannot be read. */
async function readPart(run: string, file: string, schema: z.ZodType): Promise<unknown> {
  try {
    return schema.safeParse(parseJson(await readFile(await pathWithin(run, file), 'utf8'))).data ?? null;
  } catch (error) {
    if (isMissing(error) || error instanceof Refusal) return null;
    throw error;
  }
}

/** Some bytes of a file, as text. */
export async function readRange(path: string, from: number, to: number): Promise<string> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(to - from), 0, to - from, from);
  return buffer.toString('utf8', 0, bytesRead);
}
