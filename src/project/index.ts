export { CONFIG_NAMES, findConfigFile, readConfigFile } from './config-file.ts';
export { discover } from './discover/discover.ts';
export { type Found, type FoundTasks, isEmpty, type LeftOut } from './discover/found.ts';
export { DEEPEST } from './discover/list-files.ts';
export { loadEnv } from './env/load-env.ts';
export type { KeyPath } from './find-line.ts';
export { isModulePath, isPromptPath, type LoadedProject, loadProject } from './load-project.ts';
export { type AgentPin, namedProgram, pinAgents, pinnedProgram, readPins } from './models/agent-pins.ts';
export { SandboxSpec } from './models/agent-settings.ts';
export {
  AgentTarget,
  agentTargetOf,
  openAgentTarget,
  requireAgentTarget,
  resolveAgent,
} from './models/agent-target.ts';
export type { ModelRole, Notices } from './models/provider.ts';
export { isAgentSpec, isNoTarget } from './models/providers.ts';
export { readEnvFile } from './models/read-env-file.ts';
export { checkModelSpec, type Environment, type ModelSpec, resolveModel } from './models/resolve-model.ts';
export {
  type Caller,
  findUnnamed,
  resolveModels,
  resolveRole,
  resolveScoring,
  type ScoringModels,
} from './models/resolve-models.ts';
export { placeIn, withPlace } from './origin.ts';
export { defineConfig, Project, type ProjectConfig, type ProjectInput, projectKeys } from './project.ts';
export { cautionsFor, leftOutCautions } from './propose/cautions.ts';
export { CONFIG_FORMATS, type ConfigFormat, configText } from './propose/config-text.ts';
export { type ModelOption, modelOptions, SIMULATED, whatToSet } from './propose/model-options.ts';
export { type Choice, DRAFTS, hasTasks, mappingOf, type Proposal, propose } from './propose/propose.ts';
export { type ProposedScoring, proposeScoring, SCORINGS } from './propose/propose-scoring.ts';
export { describeSource, type Source, skillsOf, sourcesOf } from './propose/sources.ts';
export { weighTasks } from './propose/weigh-tasks.ts';
export { resolvePath } from './resolve-path.ts';
export { refuseSecrets } from './secrets.ts';
export { MAIN_SETTINGS, SETTING_GROUPS } from './setting-groups.ts';
export { STARTER_TASKS, starterProject } from './starter-project.ts';
