import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { z } from 'zod';
import { SkillError } from '../../core/contracts/index.ts';
import { defined, describeValue, snakeName, suggestion, valueAt } from '../../core/text/index.ts';
import {
  findConfigFile,
  isAgentSpec,
  isPromptPath,
  placeIn,
  readConfigFile,
  readPrompts,
  refuseSecrets,
} from '../../project/index.ts';
import { shownPath } from '../../stores/index.ts';
import type { Place } from '../../transcripts/index.ts';
import { expandHome } from '../harvest/scope.ts';
import { type SleepKey, SleepSettings, sleepShape } from './sleep-settings.ts';

type Values = Readonly<Record<string, unknown>>;

type SettingsSource = {
  readonly place: Place;
  readonly stateFolder: string;
  readonly project: string;
  readonly config?: string | undefined;
  readonly flags?: Values | undefined;
  /** Refuses a project file that is code. */
  readonly isDataOnly?: boolean | undefined;
};

export type LoadedSettings = {
  readonly settings: SleepSettings;
  /** Where each value comes from; a missing key has its default. */
  readonly origins: Origins;
  /** The config of SkillOpt-Sleep that was read, and its keys without effect. */
  readonly imported?: { readonly file: string; readonly notTaken: readonly NotTaken[] };
};

type Origins = Readonly<Partial<Record<SleepKey, string>>>;

/** Settings from one place. The paths in it are absolute. */
type Layer = {
  readonly place: string;
  readonly file?: string;
  readonly path: readonly string[];
  readonly values: Values;
};

/** Flags over `sleep:` in the project file, `config.yaml`, an imported config, the project's own models, and defaults. */
export async function loadSleepSettings(source: SettingsSource): Promise<LoadedSettings> {
  const imported = await importedLayer(source);
  const layers = [imported?.layer, await stateLayer(source), await projectLayer(source), flagLayer(source)];
  const own = layers.filter((layer) => layer !== undefined);
  const said = [...(await modelsLayer(source, own)), ...own];
  for (const layer of said) await checkLayer(layer);
  const values = Object.assign({}, ...said.map((layer) => layer.values)) as Values;
  const origins = Object.assign({}, ...said.map(({ place, values }) => mapValues(values, () => place)));
  const parsed = withAgentTokens(withFractions(SleepSettings.parse(values), origins), origins);
  const settings = { ...parsed, promptOverrides: await readPrompts(parsed.promptOverrides) };
  return { settings, origins, ...(imported ? { imported: { file: imported.file, notTaken: imported.notTaken } } : {}) };
}

export const CALLER = 'command line';

function flagLayer({ flags = {}, place, project }: SettingsSource): Layer {
  return { place: CALLER, path: [], values: anchor(defined(flags), project, place) };
}

type ProjectPlace = { readonly project: string; readonly configFile?: string | undefined };

/** The project file, whether it was found or named. */
export const projectFileOf = ({ project, configFile }: ProjectPlace): string | undefined =>
  configFile === undefined ? findConfigFile(project) : resolve(project, configFile);

/** Whether a setting comes from the project file. */
export function isOfProject(key: SleepKey, where: ProjectPlace & Pick<LoadedSettings, 'origins'>): boolean {
  const file = projectFileOf(where);
  return file !== undefined && where.origins[key] === shownPath(file);
}

async function projectLayer(source: SettingsSource): Promise<Layer | undefined> {
  const file = projectFileOf({ project: source.project, configFile: source.config });
  if (file === undefined) return undefined;
  const { sleep } = await readConfigFile(file, source);
  if (sleep === undefined || sleep === null) return undefined;
  await refuseSecrets({ sleep }, file);
  if (typeof sleep !== 'object' || Array.isArray(sleep))
    throw invalid(`${await whereIn(file, [['sleep']])}: sleep: expected keys and values, got ${JSON.stringify(sleep)}`);
  const values = anchor(sleep as Values, dirname(file), source.place);
  return { place: shownPath(file), file, path: ['sleep'], values };
}

/** The models of the project itself, and its prices. Its optimizer and judge belong to its target, and do not join another one. */
async function modelsLayer(source: SettingsSource, own: readonly Layer[]): Promise<Layer[]> {
  const file = projectFileOf({ project: source.project, configFile: source.config });
  if (file === undefined) return [];
  const { target: named, optimizer, judge, sandbox, prices } = (await readConfigFile(file, source)) as Values;
  const target = isAgentSpec(named) && sandbox !== undefined ? { sandbox, ...(named as Values) } : named;
  const isNamed = own.some(({ values }) => values.target !== undefined);
  const found = Object.entries({ ...(isNamed ? {} : { target, optimizer, judge }), prices });
  const values = Object.fromEntries(found.filter(([, value]) => value !== undefined && value !== null));
  await refuseSecrets(values, file);
  return [{ place: shownPath(file), file, path: [], values }];
}

async function stateLayer({ stateFolder, place }: SettingsSource): Promise<Layer | undefined> {
  const file = join(stateFolder, 'config.yaml');
  if (!existsSync(file)) return undefined;
  const values = await readConfigFile(file);
  await refuseSecrets(values, file);
  return { place: shownPath(file), file, path: [], values: anchor(values, stateFolder, place) };
}

const IMPORTED_NAMES = ['config.json', 'config.yaml', 'config.yml'];
const PROMPTS = 'prompts.json';
const OTHER_PROMPTS = 'its prompts have placeholders, which are not filled in here; write your own as promptOverrides';

async function importedLayer({ place }: SettingsSource) {
  const folder = join(place.home, '.skillopt-sleep');
  const name = IMPORTED_NAMES.find((one) => existsSync(join(folder, one)));
  if (name === undefined) return undefined;
  const file = join(folder, name);
  const raw = await readConfigFile(file, { isSkillOpt: true });
  await refuseAutoAdopt({ place: file, file, path: [], values: raw });
  const { values, notTaken } = translateConfig(raw);
  const own = existsSync(join(folder, PROMPTS)) ? [...notTaken, { key: PROMPTS, why: OTHER_PROMPTS }] : notTaken;
  const layer = { place: shownPath(file), file, path: [], values: anchor(values, folder, place) };
  return { file, notTaken: own, layer };
}

/** Relative paths begin at the folder of their file. */
function anchor(values: Values, folder: string, { home }: Place): Values {
  const whole = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(whole);
    return typeof value === 'string' && value !== '' ? resolve(folder, expandHome(value, home)) : value;
  };
  return mapValues(values, (value, key) => {
    if (['targetSkillPath', 'skillRoots'].includes(key)) return whole(value);
    if (key === 'projects' && Array.isArray(value)) return whole(value);
    if (typeof value !== 'object' || value === null) return value;
    if (key === 'homes') return mapValues(value as Values, whole);
    if (key !== 'promptOverrides') return value;
    return mapValues(value as Values, (text) => (isPromptPath(text) ? whole(text) : text));
  });
}

const mapValues = (values: Values, change: (value: unknown, key: string) => unknown): Values =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [key, change(value, key)]));

/** Throws `CONFIG_INVALID` with a line per problem: where, what was expected, what came. */
async function checkLayer(layer: Layer): Promise<void> {
  await refuseAutoAdopt(layer);
  const known = Object.keys(sleepShape);
  const unknown = Object.keys(layer.values).filter((key) => !known.includes(key) && !isAutoAdopt(key));
  const lines = unknown.map(
    async (key) => `${await placeOf(layer, [key])}: unknown key ${key}${suggestion(key, known)}`,
  );
  const checked = Object.entries(layer.values).filter(([key]) => known.includes(key));
  const { error } = SleepSettings.partial().safeParse(Object.fromEntries(checked));
  const wrong = (error?.issues ?? []).map(async (issue) => {
    const where = `${await placeOf(layer, issue.path)}: ${issue.path.join('.')}`;
    return `${where}: ${describeValue(issue, layer.values)}${guess(issue, layer.values)}`;
  });
  const problems = await Promise.all([...lines, ...wrong]);
  if (problems.length > 0) throw invalid(problems.join('\n'));
}

const guess = (issue: z.core.$ZodIssue, values: Values) =>
  issue.code === 'invalid_value' ? suggestion(String(valueAt(issue, values)), issue.values.map(String)) : '';

const placeOf = ({ file, place, path }: Layer, key: readonly PropertyKey[]) =>
  file === undefined
    ? place
    : whereIn(file, [
        [...path, ...key],
        [...path, ...key.slice(0, 1)],
      ]);

/** With the whole path: there are files of the same name in several folders. */
const whereIn = async (file: string, keys: Parameters<typeof placeIn>[1]) =>
  join(dirname(file), await placeIn(file, keys));

const isAutoAdopt = (key: string) => key === 'autoAdopt' || key === 'auto_adopt';

async function refuseAutoAdopt(layer: Layer): Promise<void> {
  const key = Object.keys(layer.values).find(isAutoAdopt);
  if (key === undefined || layer.values[key] === false || layer.values[key] === null) return;
  const message = `${await placeOf(layer, [key])}: ${key} is refused: nothing is written to a live skill without a person`;
  throw invalid(message, 'Take the setting out. Look at a proposal in the morning, and adopt it then.');
}

function invalid(message: string, hint = `There are: ${Object.keys(sleepShape).join(', ')}.`): SkillError {
  return new SkillError('CONFIG_INVALID', message, { hint });
}

/** Enough for the smallest night of an agent with tools that can prove something. */
const AGENT_TOKENS = 10_000_000;

/** One attempt with tools takes as many tokens as a night of answers in words. */
function withAgentTokens(settings: SleepSettings, { maxTokensPerNight }: Origins): SleepSettings {
  const isForAgent = isAgentSpec(settings.target) && maxTokensPerNight === undefined;
  return isForAgent ? { ...settings, maxTokensPerNight: AGENT_TOKENS } : settings;
}

/** `holdoutFraction` counts only if it is set and `valFraction` is not. */
function withFractions(settings: SleepSettings, origins: Origins): SleepSettings {
  const isHoldout = origins.valFraction === undefined && origins.holdoutFraction !== undefined;
  const valFraction = isHoldout ? settings.holdoutFraction : settings.valFraction;
  const { testFraction } = settings;
  if (valFraction + testFraction < 1) return { ...settings, valFraction, holdoutFraction: valFraction };
  const place = origins.testFraction ?? origins.valFraction ?? origins.holdoutFraction;
  const message = `${place}: valFraction ${valFraction} and testFraction ${testFraction} leave no task to learn from`;
  throw new SkillError('CONFIG_INVALID', message, { hint: 'Their sum must be less than 1.' });
}

export type NotTaken = { readonly key: string; readonly why: string };

/** Settings that have the same name there, in snake_case. */
const SAME: readonly SleepKey[] = [
  ...(['projects', 'lookbackHours', 'maxTasksPerNight', 'maxSessionsPerNight', 'maxTokensPerNight'] as const),
  ...(['holdoutFraction', 'valFraction', 'testFraction', 'editBudget', 'preferences', 'gateMode'] as const),
  ...(['gateMetric', 'gateMixedWeight', 'gateNoRegression', 'dreamRollouts', 'dreamFactor', 'recallK'] as const),
  ...(['evolveSkill', 'evolveMemory', 'llmMine', 'targetSkillPath', 'skillRoots', 'multiSkillFanout'] as const),
  ...(['targetTaskFilter', 'managedSkillName', 'seed'] as const),
];

/** Our key for a setting, or the agent whose home it names. */
const TAKEN: Readonly<Record<string, SleepKey | `homes.${string}`>> = {
  ...Object.fromEntries(SAME.map((key) => [snakeName(key), key])),
  transcript_source: 'source',
  multi_skill_report: 'multiSkillFanout',
  claude_home: 'homes.claude',
  codex_home: 'homes.codex',
  pi_home: 'homes.pi',
  cursor_home: 'homes.cursor',
  copilot_cli_session_store: 'homes.copilot-cli',
  opencode_db: 'homes.opencode',
};

const sameReason = (why: string, keys: readonly string[]) => Object.fromEntries(keys.map((key) => [key, why]));
const MODELS = ['backend', 'model', 'optimizer_backend', 'optimizer_model', 'target_backend', 'target_model'];

const NOT_TAKEN: Readonly<Record<string, string>> = {
  invoked_project: 'the project is where you are, or what you name',
  state_dir: 'the state folder is named by the variable SKILLOPT_HOME',
  ...sameReason('models are named in the project file: target and optimizer', [...MODELS, 'azure_endpoint']),
  ...sameReason('installed agents are found by themselves', ['codex_path', 'pi_path', 'cursor_path', 'opencode_path']),
  opencode_tool_replay: 'tasks are replayed without tools of yours',
  replay_mode: 'it was a label, without effect',
  progress: 'progress is shown when there is a terminal',
  ...sameReason('the journal of a night is always kept', ['evidence_log', 'evidence_max_chars']),
  redact_secrets: 'secrets are always taken out',
  vscode_workspace_storage: 'VS Code is found by its own variables, VSCODE_PORTABLE among them',
  auto_adopt: 'a proposal is adopted by a person',
};

/** Translates a config of SkillOpt-Sleep. Empty values do not count; our own spelling is accepted too. */
function translateConfig(raw: Values): { readonly values: Values; readonly notTaken: readonly NotTaken[] } {
  const notTaken: NotTaken[] = [];
  const values: Record<string, unknown> = {};
  const homes: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(raw)) {
    if (value === null || value === '') continue;
    const to = TAKEN[snakeName(key)];
    if (to === undefined) notTaken.push({ key, why: whyNot(snakeName(key)) });
    else if (to.startsWith('homes.')) homes[to.slice('homes.'.length)] = homeOf(key, value);
    else values[to] = ourValue(to, value);
  }
  return { values: Object.keys(homes).length > 0 ? { ...values, homes } : values, notTaken };
}

const GATE_OFF: readonly unknown[] = ['none', 'false', 'greedy', false];

function ourValue(to: string, value: unknown): unknown {
  if (to === 'source' && value === 'copilot_cli') return 'copilot-cli';
  return to === 'gateMode' && GATE_OFF.includes(value) ? 'off' : value;
}

/** Our homes are the folders that agents' own variables name; some of theirs are a file in it, or the folder above. */
function homeOf(key: string, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (key === 'pi_home') return join(value, 'agent');
  return key === 'copilot_cli_session_store' ? dirname(value) : value;
}

const whyNot = (key: string) =>
  NOT_TAKEN[key] ?? `there is no such setting${suggestion(key, [...Object.keys(TAKEN), ...Object.keys(NOT_TAKEN)])}`;
