import { basename } from 'node:path';
import { configShape, SkillError } from '../../core/contracts/index.ts';
import { defined, suggestion } from '../../core/text/index.ts';
import type { ModelSpec } from '../models/provider.ts';
import { nameOf } from '../origin.ts';
import type { ProjectInput } from '../project.ts';
import { findFlat, findRow, KEY_TABLE, type KeyRow, ROLES, type Role, SECTIONS, type Section } from './key-table.ts';
import {
  isOwnKey,
  isSectionValue,
  type Layer,
  mergeLayers,
  nameIn,
  overrideLayer,
  readLayers,
  skillOptOrigin,
} from './layers.ts';
import {
  type Backend,
  BadValue,
  isBlank,
  plainWord,
  type RoleBackends,
  readFor,
  readNumber,
  readValue,
  readWord,
  roleBackends,
  type Values,
} from './read-value.ts';

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

/** Whether a file is a SkillOpt config: it has a `_base_`, a section, or flat names and no key of ours. */
export function isSkillOptConfig(raw: Values): boolean {
  const names = Object.keys(raw);
  if ('_base_' in raw || names.some((name) => isSectionValue(name, raw[name]))) return true;
  // `seed`, `workers` and `env` are keys of both.
  return names.some((name) => name.includes('_') && findFlat(name) !== undefined) && !names.some(isOwnKey);
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

/** `optimizer` and `target` in our keys, if the section names them. An agent has the limit of `env.exec_timeout`. */
function modelSpecs(model: Values, env: Values): Values {
  const roles = ROLES.map((role) => settingsFor(role, model, env));
  const specs = roles.map((settings) => [settings.role, makers[settings.backend](settings)]);
  const timeoutMs = Math.round(Math.max(...roles.map((settings) => settings.timeoutSeconds())) * 1000);
  return {
    ...Object.fromEntries(specs.filter(([, spec]) => spec !== undefined)),
    // Both models share the longest limit, which is never below our default.
    ...(timeoutMs > configShape.callTimeoutMs.parse(undefined) ? { callTimeoutMs: timeoutMs } : {}),
  };
}

type RoleSettings = ReturnType<typeof settingsFor>;

function settingsFor(role: Role, model: Values, env: Values) {
  const backend = roleBackends(model)[role];
  const rows = rowsFor(role, backend, model);
  const read = (to: string) => {
    const row = rows.get(to);
    return row && readValue(`model.${row.key}`, row, model[row.key]);
  };
  const name = isBlank(model[role]) ? undefined : String(model[role]).trim();
  const seconds = isBlank(env.exec_timeout) ? undefined : readNumber('env.exec_timeout', env.exec_timeout);
  return {
    role,
    backend,
    name,
    /** The name, unless it is a default of SkillOpt, which other backends do not have. */
    chosen: name === 'gpt-5.4' || name === 'gpt-5.5' ? undefined : name,
    backendName: read(`${role}.model`),
    /** Whether `openai_chat` is Azure even without an endpoint. */
    isAzure: plainWord(model.backend ?? '').startsWith('azure'),
    limits: seconds === undefined ? undefined : { timeoutMs: Math.round(seconds * 1000) },
    options(): Values {
      const own = [...rows.keys()].filter((to) => to.startsWith(`${role}.`) && to !== `${role}.model`);
      return Object.fromEntries(own.map((to) => [to.slice(role.length + 1), read(to)]));
    },
    timeoutSeconds: () => Number(read('callTimeoutMs') ?? 0),
  };
}

/** The keys in the file that count for a role with this backend, by the option that they set. */
function rowsFor(role: Role, backend: Backend, model: Values): ReadonlyMap<string, KeyRow> {
  const used = KEY_TABLE.filter(
    (row) => row.backends?.includes(backend) && (row.role ?? role) === role && !isBlank(model[row.key]),
  );
  return new Map(used.flatMap((row) => (row.to ?? '').split(', ').map((to) => [to, row])));
}

const makers: Readonly<Record<Backend, (settings: RoleSettings) => ModelSpec | undefined>> = {
  openai_chat: openaiSpec,
  openai_compatible: compatibleSpec,
  qwen_chat: ({ chosen, options }) => block('qwen', { ...options(), model: chosen ?? 'Qwen/Qwen3.5-4B' }),
  minimax_chat: ({ chosen, backendName, options }) =>
    block('minimax', { ...options(), model: chosen ?? backendName ?? 'MiniMax-M3' }),
  claude_chat: ({ chosen }) => block('claude-cli', { model: chosen ?? 'claude-sonnet-4-6' }),
  copilot_chat: ({ chosen, backendName, options }) =>
    block('copilot-cli', { ...options(), model: backendName ?? chosen }),
  // As optimizer Codex answers a message, as `codex-cli` does. As target it works in a folder.
  codex_exec: (settings) =>
    settings.role === 'target'
      ? agentSpec('codex', settings)
      : block('codex-cli', { model: settings.name, ...settings.options() }),
  claude_code_exec: (settings) => agentSpec('claude', settings),
  cursor_exec: (settings) => agentSpec('cursor', settings),
  copilot_exec: (settings) => agentSpec('copilot', settings),
};

function openaiSpec({ name, isAzure, options }: RoleSettings): ModelSpec | undefined {
  if (name === undefined) return undefined;
  const { auth, apiVersion, ...shared } = options();
  const isOpenAi = auth === 'openai' || (auth === undefined && shared.baseURL === undefined && !isAzure);
  return isOpenAi
    ? block('openai', { model: name, ...shared })
    : block('azure', { model: name, ...shared, apiVersion, auth });
}

function compatibleSpec({ name, chosen, backendName, options }: RoleSettings): ModelSpec | undefined {
  const model = chosen ?? backendName ?? name;
  if (model === undefined) return undefined;
  const { temperature, ...others } = options();
  return block('compatible', { ...others, model, temperature: temperature ?? undefined });
}

/** An agent in a workspace, with the skill installed. As optimizer it is refused later, by name. */
function agentSpec(agent: string, { role, backend, name, chosen, limits, options }: RoleSettings): ModelSpec {
  if (role === 'optimizer') return `${backend}:${name ?? ''}`;
  return { agent, ...defined({ model: chosen, ...options(), limits }) };
}

/** Without other options it is `openai:MODEL`. */
function block(provider: string, options: Values): ModelSpec {
  const { model, ...others } = defined(options);
  if (Object.keys(others).length > 0) return { provider, ...defined({ model }), ...others };
  return model === undefined ? provider : `${provider}:${model}`;
}
