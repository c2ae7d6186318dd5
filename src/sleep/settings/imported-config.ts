import { dirname, join } from 'node:path';
import { suggestion } from '../../core/text/index.ts';
import type { SleepKey } from './sleep-settings.ts';

export type Values = Readonly<Record<string, unknown>>;

/** A setting of an imported file without effect, and why. */
export type NotTaken = { readonly key: string; readonly why: string };

/** Our key for a setting, or the agent whose home it names. */
const TAKEN: Readonly<Record<string, SleepKey | `homes.${string}`>> = {
  transcript_source: 'source',
  projects: 'projects',
  lookback_hours: 'lookbackHours',
  max_tasks_per_night: 'maxTasksPerNight',
  max_sessions_per_night: 'maxSessionsPerNight',
  max_tokens_per_night: 'maxTokensPerNight',
  holdout_fraction: 'holdoutFraction',
  val_fraction: 'valFraction',
  test_fraction: 'testFraction',
  edit_budget: 'editBudget',
  preferences: 'preferences',
  gate_mode: 'gateMode',
  gate_metric: 'gateMetric',
  gate_mixed_weight: 'gateMixedWeight',
  gate_no_regression: 'gateNoRegression',
  dream_rollouts: 'dreamRollouts',
  dream_factor: 'dreamFactor',
  recall_k: 'recallK',
  evolve_skill: 'evolveSkill',
  evolve_memory: 'evolveMemory',
  llm_mine: 'llmMine',
  target_skill_path: 'targetSkillPath',
  skill_roots: 'skillRoots',
  multi_skill_fanout: 'multiSkillFanout',
  multi_skill_report: 'multiSkillFanout',
  target_task_filter: 'targetTaskFilter',
  managed_skill_name: 'managedSkillName',
  seed: 'seed',
  claude_home: 'homes.claude',
  codex_home: 'homes.codex',
  pi_home: 'homes.pi',
  cursor_home: 'homes.cursor',
  copilot_cli_session_store: 'homes.copilot-cli',
  opencode_db: 'homes.opencode',
};

const MODELS = 'models are named in the project file: target and optimizer';
const FOUND = 'installed agents are found by themselves';
const JOURNAL = 'the journal of a night is always kept';

const NOT_TAKEN: Readonly<Record<string, string>> = {
  invoked_project: 'the project is where you are, or what you name',
  state_dir: 'the state folder is named by the variable SKILLOPT_HOME',
  backend: MODELS,
  model: MODELS,
  optimizer_backend: MODELS,
  optimizer_model: MODELS,
  target_backend: MODELS,
  target_model: MODELS,
  azure_endpoint: MODELS,
  codex_path: FOUND,
  pi_path: FOUND,
  cursor_path: FOUND,
  opencode_path: FOUND,
  opencode_tool_replay: 'tasks are replayed without tools of yours',
  replay_mode: 'it was a label, without effect',
  progress: 'progress is shown when there is a terminal',
  evidence_log: JOURNAL,
  evidence_max_chars: JOURNAL,
  redact_secrets: 'secrets are always taken out',
  vscode_workspace_storage: 'VS Code is found by its own variables, VSCODE_PORTABLE among them',
  auto_adopt: 'a proposal is adopted by a person',
};

/** Translates a config of SkillOpt-Sleep. Empty values do not count; our own spelling is accepted too. */
export function translateConfig(raw: Values): { readonly values: Values; readonly notTaken: readonly NotTaken[] } {
  const notTaken: NotTaken[] = [];
  const values: Record<string, unknown> = {};
  const homes: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(raw)) {
    if (value === null || value === '') continue;
    const to = TAKEN[toSnake(key)];
    if (to === undefined) notTaken.push({ key, why: whyNot(toSnake(key)) });
    else if (to.startsWith('homes.')) homes[to.slice('homes.'.length)] = homeOf(key, value);
    else values[to] = to === 'source' && value === 'copilot_cli' ? 'copilot-cli' : value;
  }
  return { values: Object.keys(homes).length > 0 ? { ...values, homes } : values, notTaken };
}

/** Our homes are the folders that agents' own variables name; some of theirs are a file in it, or the folder above. */
function homeOf(key: string, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (key === 'pi_home') return join(value, 'agent');
  return ['copilot_cli_session_store', 'opencode_db'].includes(key) ? dirname(value) : value;
}

const toSnake = (key: string) => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function whyNot(key: string): string {
  return (
    NOT_TAKEN[key] ?? `there is no such setting${suggestion(key, [...Object.keys(TAKEN), ...Object.keys(NOT_TAKEN)])}`
  );
}
