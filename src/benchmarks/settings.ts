import { existsSync } from 'node:fs';
import { z } from 'zod';
import { parseWith } from '../core/contracts/index.ts';
import { closestName, toCamelCase } from '../core/text/index.ts';
import type { Benchmark } from './benchmark.ts';

/** A list that is given as text: `[node, world.mjs]`. */
export function listIn(text: string): string[] | undefined {
  const [, inside] = /^\s*\[(.*)\]\s*$/s.exec(text) ?? [];
  const words = inside?.split(',').map((word) => word.trim().replace(/^(["'])(.*)\1$/, '$2'));
  return words?.filter((word) => word !== '');
}

const folders = z
  .union(
    [z.string().transform((text) => listIn(text) ?? [text]), z.array(z.string())],
    'expected a folder, or a list of folders',
  )
  .default([]);

/** What every benchmark reads of `extras`: where files lie that items name, and whether items with a known flaw take part. */
const Common = z.object({
  dataRoot: z.string().optional(),
  dataDirs: folders,
  /** SkillOpt's other name for the same. */
  docsDirs: folders,
  leaveOutFlawed: z.union([z.boolean(), z.stringbool()], 'expected true or false').default(false),
});

/** What a benchmark reads of a project's `extras`. Blank values count as not given. */
export const parseSettings = (benchmark: Named, extras: object): unknown =>
  parseWith(benchmark.settings, given(extras), titleOf(benchmark), hintOf(benchmark));

/** `named`: the folders that `extras` names. */
export function parseCommon(benchmark: Named, extras: object) {
  const settings = parseWith(Common, given(extras), titleOf(benchmark), hintOf(benchmark));
  const { dataRoot, dataDirs, docsDirs, leaveOutFlawed } = settings;
  return { named: [...(dataRoot === undefined ? [] : [dataRoot]), ...dataDirs, ...docsDirs], leaveOutFlawed };
}

/** What SkillOpt's configs hold, each for some of the benchmarks. */
const OF_SKILLOPT =
  `workers limit mode imageDetail shuffleChoices useTheorem useSketch maxTurns execTimeout maxSteps maxApiWorkers
  maxToolTurns searchMode maxQueriesPerTurn searchApiUrl searchAuthEnv searchProvider searchMaxNumResults searchTimeoutSeconds
  useLocalTools`.split(/\s+/);

/** Keys that are spelt nearly as a setting is, and so have no effect. Others that are unknown are left alone. */
export function misspelt(benchmark: Named, extras: object): string[] {
  const known = keysOf(benchmark);
  const unknown = Object.keys(given(extras) as object).filter((key) => ![...known, ...OF_SKILLOPT].includes(key));
  return unknown.flatMap((key) => {
    const near = closestName(key, known);
    return near === undefined ? [] : [`extras.${key} has no effect: did you mean ${near}?`];
  });
}

/** Folders that are named and not there. */
export const missingFolders = (paths: readonly string[]): string[] =>
  paths
    .filter((path) => !existsSync(path))
    .map((path) => `the folder ${path} does not exist, so no file is found there`);

type Named = Pick<Benchmark, 'name' | 'settings'>;

const keysOf = ({ settings }: Named) => [...Object.keys(settings.shape), ...Object.keys(Common.shape)];

const hintOf = (benchmark: Named) => `extras may have: ${keysOf(benchmark).join(', ')}.`;

const titleOf = ({ name }: Named) => `The settings of ${name} are not valid.`;

const given = (extras: object) =>
  toCamelCase(Object.fromEntries(Object.entries(extras).filter(([, value]) => value != null && value !== '')));
