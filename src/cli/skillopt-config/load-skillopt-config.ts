import { basename } from 'node:path';
import { SkillError } from '../../core/errors.ts';
import type { ProjectInput } from '../project/project.ts';
import { type Layer, mergeLayers, type Values } from './layer.ts';
import { lostSettings } from './lost-settings.ts';
import { modelSpecs } from './model-specs.ts';
import { overrideLayer } from './overrides.ts';
import { readLayers } from './read-layers.ts';
import { runSettings } from './run-settings.ts';

type SkillOptSource = {
  /** The file, absolute; `_base_` is read from its folder. */
  readonly file: string;
  /** What is in it. */
  readonly raw: Values;
  /** `key=value` of the command line. */
  readonly overrides?: readonly string[];
};

export type TranslatedConfig = {
  readonly input: ProjectInput;
  /** Names every setting that has no effect here; absent when there is none. */
  readonly warning: string | undefined;
};

/** A SkillOpt config in our words: the file over its bases, the command line over the file. */
export async function loadSkillOptConfig({ file, raw, overrides = [] }: SkillOptSource): Promise<TranslatedConfig> {
  const layer = mergeLayers(await readLayers({ file, raw }), overrideLayer(overrides));
  const input = { ...runSettings(layer), ...modelSpecs(layer.sections.model), ...layer.own };
  return { input, warning: warningFor(basename(file), layer) };
}

function warningFor(source: string, layer: Layer): string | undefined {
  const lost = lostSettings(layer);
  if (lost.length === 0) return undefined;
  return [`${source}: without effect here:`, ...lost.map((line) => `  ${line}`)].join('\n');
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
  const { splitRatio, ...settings } = runSettings(layer);
  return { ...settings, ...(layer.sections.env.split_ratio === undefined ? {} : { splitRatio }), ...layer.own };
}
