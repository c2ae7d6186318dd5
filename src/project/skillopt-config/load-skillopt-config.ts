import { basename } from 'node:path';
import { SkillError } from '../../core/contracts/index.ts';
import { findLine, type KeyPath } from '../find-line.ts';
import { type FindOrigin, nameOf, type Origin } from '../origin.ts';
import type { ProjectInput } from '../project.ts';
import { KEY_TABLE } from './key-table.ts';
import { type Layer, mergeLayers, type Values } from './layer.ts';
import { lostSettings } from './lost-settings.ts';
import { modelSpecs } from './model-specs.ts';
import { overrideLayer } from './overrides.ts';
import { budgetsOf, extrasOf, protocolOf } from './protocol.ts';
import { readLayers } from './read-layers.ts';
import { BadValue } from './read-value.ts';
import { runSettings } from './run-settings.ts';

type SkillOptSource = {
  /** The file, absolute; `_base_` is read from its folder. */
  readonly file: string;
  /** What is in it. */
  readonly raw: Values;
  /** `key=value` of the command line. */
  readonly overrides?: readonly string[];
  /** What flags say: a preset, an environment. */
  readonly flags?: ProjectInput;
};

export type TranslatedConfig = {
  readonly input: ProjectInput;
  /** What the file means without saying it. */
  readonly notes: readonly string[];
  /** Names every setting that has no effect here; absent when there is none. */
  readonly warning: string | undefined;
  /** Where a key of ours was said, in the words of the file. */
  readonly findOrigin: FindOrigin;
};

/** A SkillOpt config in our words: the file over its bases, the command line over the file. */
export async function loadSkillOptConfig(source: SkillOptSource): Promise<TranslatedConfig> {
  const { file, raw, overrides = [], flags = {} } = source;
  const { layer: said, files } = await readLayers({ file, raw });
  const set = overrideLayer(overrides);
  const layer = mergeLayers(said, set);
  const findOrigin = originIn(files, set);
  try {
    const { input, notes } = translate(layer, basename(file), flags.preset);
    const warning = warningFor(basename(file), layer, flags.env ?? input.env);
    return { input, notes, warning, findOrigin };
  } catch (error) {
    throw error instanceof BadValue ? await refusal(error, findOrigin) : error;
  }
}

function translate(layer: Layer, source: string, presetOfFlag: unknown) {
  const protocol = protocolOf(presetOfFlag ?? layer.own.preset, source);
  const said = { ...runSettings(layer), ...modelSpecs(layer.sections.model, layer.sections.env), ...layer.own };
  const budgets = budgetsOf(said, source);
  const input = { ...protocol.settings, ...said, ...extrasOf(said, protocol), ...budgets.settings };
  return { input, notes: [...protocol.notes, ...budgets.notes] };
}

function warningFor(source: string, layer: Layer, env: unknown): string | undefined {
  const lost = lostSettings(layer, env);
  if (lost.length === 0) return undefined;
  return [`${source}: without effect here:`, ...lost.map((line) => `  ${line}`)].join('\n');
}

async function refusal(error: BadValue, findOrigin: FindOrigin): Promise<SkillError> {
  const origin = await findOrigin(error.key.split('.'));
  return new SkillError('CONFIG_INVALID', `${nameOf(origin)}: ${error.message}`, { hint: error.hint });
}

/** Looks for a key of ours, or for `section.key` of theirs: on the command line, then from file to base. */
function originIn(files: readonly string[], set: Layer): FindOrigin {
  return async (path) => {
    const rows = rowsFor(path);
    const typed = rows.find(({ section, key }) => key in set.sections[section]);
    if (typed) return { place: '--set', key: `${typed.section}.${typed.key}` };
    if (String(path[0]) in set.own) return { place: '--set', key: path.join('.') };
    for (const file of files) {
      const origin = await originInFile(file, path, rows);
      if (origin) return origin;
    }
    return { key: path.join('.') };
  };
}

type Row = (typeof KEY_TABLE)[number];

function rowsFor([first, second]: KeyPath): Row[] {
  const theirs = KEY_TABLE.filter((row) => row.section === first && row.key === second);
  return theirs.length > 0 ? theirs : KEY_TABLE.filter((row) => (row.to ?? '').split(', ').includes(String(first)));
}

async function originInFile(file: string, path: KeyPath, rows: readonly Row[]): Promise<Origin | undefined> {
  const names = rows.map(({ section, key, flat }) => ({ key: `${section}.${key}`, paths: [[section, key], [flat]] }));
  for (const { key, paths } of [...names, { key: path.join('.'), paths: [path, path.slice(0, 1)] }]) {
    const line = await findLine(file, paths);
    if (line !== undefined) return { place: `${basename(file)}:${line}`, key };
  }
  return undefined;
}

/** Overrides for a file of ours. There a model is one value, which a flag replaces. */
export function overridesForProject(overrides: readonly string[]): ProjectInput {
  const layer = overrideLayer(overrides);
  const [key] = Object.keys(layer.sections.model);
  if (key !== undefined && key !== 'rewrite_max_completion_tokens') {
    throw new SkillError('USAGE', `--set model.${key} needs a SkillOpt config, and this project file is none`, {
      hint: 'Name the model with --target or --optimizer, such as --target openai:MODEL.',
    });
  }
  const { splitRatio, ...settings } = typedSettings(layer);
  return { ...settings, ...(layer.sections.env.split_ratio === undefined ? {} : { splitRatio }), ...layer.own };
}

function typedSettings(layer: Layer): Values {
  try {
    return runSettings(layer);
  } catch (error) {
    if (!(error instanceof BadValue)) throw error;
    throw new SkillError('USAGE', `--set: ${error.key}: ${error.message}`, { hint: error.hint });
  }
}
