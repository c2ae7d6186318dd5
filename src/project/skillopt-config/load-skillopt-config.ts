import { basename } from 'node:path';
import { configShape, SkillError } from '../../core/contracts/index.ts';
import { suggestion } from '../../core/text/index.ts';
import { type FindOrigin, findLine, type KeyPath, nameOf } from '../origin.ts';
import type { ProjectInput } from '../project.ts';
import { findRow, KEY_TABLE, type KeyRow, ROLES, SECTIONS, type Section } from './key-table.ts';
import { type Layer, mergeLayers, overrideLayer, readLayers } from './layers.ts';
import { modelSpecs, type RoleBackends, roleBackends } from './model-specs.ts';
import { BadValue, isBlank, readFor, readNumber, readWord, type Values } from './read-value.ts';

type SkillOptSource = {
  readonly file: string;
  readonly raw: Values;
  /** `key=value` of the command line. */
  readonly overrides?: readonly string[];
  readonly flags?: ProjectInput;
};

/** A SkillOpt config in our keys. The command line overrides the file, which overrides its bases. */
export async function loadSkillOptConfig(source: SkillOptSource) {
  const { file, raw, overrides = [], flags = {} } = source;
  const name = basename(file);
  const { layer: written, files } = await readLayers(file, raw);
  const set = overrideLayer(overrides);
  const layer = mergeLayers(written, set);
  const findOrigin = skillOptOrigin(files, set);
  try {
    const { model, env } = layer.sections;
    const settings = { ...runSettings(layer), ...modelSpecs(model, env), ...layer.own };
    const preset = flags.preset ?? layer.own.preset;
    const budget = fixedBudget(settings, name);
    const input: ProjectInput = { ...withReference(settings, preset), ...budget.settings };
    return {
      input,
      notes: [...(preset === undefined ? [protocolNote(name)] : []), ...budget.notes],
      warning: warningFor(name, layer, flags.env ?? settings.env),
      findOrigin,
    };
  } catch (error) {
    if (!(error instanceof BadValue)) throw error;
    const origin = await findOrigin(error.key.split('.'));
    throw new SkillError('CONFIG_INVALID', `${nameOf(origin)}: ${error.message}`, { hint: error.hint });
  }
}

/** Overrides for a project file of ours, where a model is one value. */
export function overridesForProject(overrides: readonly string[]): ProjectInput {
  const layer = overrideLayer(overrides);
  const [key] = Object.keys(layer.sections.model);
  if (key !== undefined && key !== 'rewrite_max_completion_tokens') {
    throw new SkillError('USAGE', `--set model.${key} needs a SkillOpt config, and this project file is not one`, {
      hint: 'Name the model with --target or --optimizer, such as --target openai:MODEL.',
    });
  }
  try {
    const { splitRatio, ...settings } = runSettings(layer);
    return { ...settings, ...(layer.sections.env.split_ratio === undefined ? {} : { splitRatio }), ...layer.own };
  } catch (error) {
    if (!(error instanceof BadValue)) throw error;
    throw new SkillError('USAGE', `--set: ${error.key}: ${error.message}`, { hint: error.hint });
  }
}

type Setting = { readonly to: string; readonly value: unknown };

const EXTRAS = 'extras.';

function runSettings({ sections }: Layer): Values {
  const settings = SECTIONS.flatMap((section) =>
    Object.entries(sections[section]).flatMap(([key, value]) => settingsIn(section, key, value)),
  );
  const extras = settings.filter(({ to }) => to.startsWith(EXTRAS));
  const workers = settings.filter(({ to }) => to === 'workers').sort((a, b) => Number(a.value) - Number(b.value));
  return {
    splitRatio: '2:1:7', // the default of SkillOpt's environments
    ...collect([...settings.filter(({ to }) => !to.startsWith(EXTRAS)), ...workers.slice(-1)]),
    ...(extras.length === 0 ? {} : { extras: collect(extras) }),
  };
}

const collect = (settings: readonly Setting[]): Values =>
  Object.fromEntries(settings.map(({ to, value }) => [to.replace(EXTRAS, ''), value]));

function settingsIn(section: Section, key: string, value: unknown): Setting[] {
  const row = findRow(section, key);
  if (isBlank(value)) return [];
  if (row === undefined) return section === 'env' ? [{ to: `${EXTRAS}${key}`, value }] : [];
  if (row.does !== 'mapped' || (section === 'model' && key !== 'rewrite_max_completion_tokens')) return [];
  return (row.to ?? '').split(', ').map((to) => ({ to, value: readSetting(row, to, value) }));
}

function readSetting(row: KeyRow, to: string, value: unknown): unknown {
  const name = nameIn(row);
  if (row.values !== undefined) return readWord(name, row.values, value);
  if (to === 'rolloutTimeoutMs') return taskLimitMs(readNumber(name, value));
  return to === `${EXTRAS}maxCompletionTokens` ? readNumber(name, value) : readFor(to, value);
}

/** A task gets a minute more than its command. */
const taskLimitMs = (seconds: number) =>
  Math.max(configShape.rolloutTimeoutMs.parse(undefined), Math.round((seconds + 60) * 1000));

const protocolNote = (source: string) =>
  `${source} is a SkillOpt config and trains by SkillOpt's protocol (preset: paper); ours is --preset default`;

/** Adds SkillOpt's defaults that differ from those of the preset. Other presets have their own. */
function withReference(settings: ProjectInput, preset: unknown = 'paper'): ProjectInput {
  if (preset !== 'paper') return settings;
  const { env = 'qa', extras } = settings;
  const reference = { preset: 'paper', slowUpdateGate: false, optimizerMaxCompletionTokens: 16_384 };
  // The environment qa reads the limit of an answer from its extras.
  const limit = env === 'qa' ? { extras: { maxCompletionTokens: 16_384, ...(extras as object | undefined) } } : {};
  return { ...reference, ...settings, ...limit };
}

/** A decaying budget never falls below the minimum. A minimum above the maximum is therefore the budget of every step. */
function fixedBudget(settings: ProjectInput, source: string) {
  const { editBudget: greatest = 4, minEditBudget: least = 2, lrScheduler = 'cosine' } = settings;
  if (typeof greatest !== 'number' || typeof least !== 'number' || least <= greatest)
    return { settings: {}, notes: [] };
  const isDecaying = ['linear', 'cosine'].includes(String(readFor('lrScheduler', lrScheduler)));
  const budget = isDecaying ? least : greatest;
  const why = `min_learning_rate (${least}) is above learning_rate (${greatest})`;
  return {
    settings: { editBudget: budget, minEditBudget: budget },
    notes: [`${source}: ${why}: every step may make ${budget}, as in SkillOpt`],
  };
}

/** Names each setting that has no effect here. `env` is the environment's name. */
function warningFor(source: string, { sections }: Layer, env: unknown): string | undefined {
  const backends = roleBackends(sections.model);
  const lost = SECTIONS.flatMap((section) =>
    Object.entries(sections[section]).flatMap(([key, value]) => {
      const row = findRow(section, key);
      const why = row === undefined ? unknownReason(section, key) : lostReason(row, value, backends, env);
      return isBlank(value) || why === undefined ? [] : [`  ${section}.${key}: ${why}`];
    }),
  );
  return lost.length === 0 ? undefined : [`${source}: without effect here:`, ...lost].join('\n');
}

function lostReason(row: KeyRow, value: unknown, backends: RoleBackends, env: unknown = 'qa'): string | undefined {
  const { does, to, why, harmless, unusedBy, isOfOthers } = row;
  if (harmless?.includes(value)) return undefined;
  if (isOfOthers && env === 'qa') return 'For other environments: qa does not read it.';
  if (ROLES.some((role) => unusedBy?.includes(backends[role]))) return why;
  if (does === 'mapped' || does === 'refused' || !isInUse(row, backends)) return undefined;
  return does === 'replaced' ? `${why} Set ${to}.` : why;
}

const isInUse = ({ backends: of, role }: KeyRow, backends: RoleBackends): boolean =>
  of === undefined || ROLES.some((name) => (role ?? name) === name && of.includes(backends[name]));

/** An unknown key of `env` may be the environment's own, or a typing error. */
function unknownReason(section: Section, key: string): string {
  const names = KEY_TABLE.filter((row) => row.section === section || section === 'env').map((row) => row.key);
  const guess = suggestion(key, names);
  return section === 'env' ? `unknown, handed to the environment as extras.${key}${guess}` : `unknown${guess}`;
}

/** Finds a key of ours, or `section.key` of theirs, on the command line, then in the file and its bases. */
function skillOptOrigin(files: readonly string[], set: Layer): FindOrigin {
  return async (path) => {
    const rows = rowsFor(path);
    const typed = rows.find(({ section, key }) => key in set.sections[section]);
    if (typed) return { place: '--set', key: nameIn(typed) };
    const own = path.join('.');
    if (String(path[0]) in set.own) return { place: '--set', key: own };
    const theirs = rows.map((row) => ({ key: nameIn(row), paths: [[row.section, row.key], [row.flat]] }));
    for (const file of files) {
      for (const { key, paths } of [...theirs, { key: own, paths: [path, path.slice(0, 1)] }]) {
        const line = await findLine(file, paths);
        if (line !== undefined) return { place: `${basename(file)}:${line}`, key };
      }
    }
    return { key: own };
  };
}

const nameIn = ({ section, key }: KeyRow) => `${section}.${key}`;

function rowsFor([first, second]: KeyPath): KeyRow[] {
  const theirs = KEY_TABLE.filter((row) => row.section === first && row.key === second);
  return theirs.length > 0 ? theirs : KEY_TABLE.filter((row) => (row.to ?? '').split(', ').includes(String(first)));
}
