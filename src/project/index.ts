export { CONFIG_NAMES, findConfigFile, readConfigFile } from './config-file.ts';
export { discover, type FolderFindings } from './discover/discover.ts';
export { DEEPEST, type FoundTasks, isEmpty, type LeftOut } from './discover/discover-files.ts';
export { dataKeys, loadEnv } from './env/load-env.ts';
export { lockFileOf, moduleFiles } from './env/module-files.ts';
export { isModulePath, isPromptPath, type LoadedProject, loadProject, readPrompts } from './load-project.ts';
export { namedProgram, pinAgents, pinnedProgram, readPins } from './models/agent-pins.ts';
export {
  AgentTarget,
  agentTargetOf,
  openAgentTarget,
  requireAgentTarget,
  resolveAgent,
} from './models/agent-target.ts';
export type { Environment, ModelRole, ModelSpec, Notices } from './models/provider.ts';
export { isAgentSpec, isNoTarget } from './models/providers.ts';
export { readEnvFile } from './models/read-env-file.ts';
export {
  addressOf,
  type Caller,
  checkModelSpec,
  findUnnamed,
  namedEndpoint,
  resolveModel,
  resolveModels,
  resolveRole,
  resolveScoring,
  type ScoringModels,
} from './models/resolve-model.ts';
export { agentVariables } from './models/usual-key.ts';
export { isTyped, type KeyPath, placeIn, withPlace } from './origin.ts';
export {
  defineConfig,
  MAIN_SETTINGS,
  Project,
  type ProjectConfig,
  type ProjectInput,
  projectKeys,
  SandboxSpec,
  SETTING_GROUPS,
} from './project.ts';
export { CONFIG_FORMATS, type ConfigFormat, configText } from './propose/config-text.ts';
export { type ModelOption, modelOptions, SIMULATED, whatToSet } from './propose/model-options.ts';
export {
  type Choice,
  cautionsFor,
  DRAFTS,
  hasTasks,
  leftOutCautions,
  mappingOf,
  type Proposal,
  propose,
} from './propose/propose.ts';
export {
  describeSource,
  type ProposedScoring,
  proposeScoring,
  SCORINGS,
  type Source,
  skillsOf,
  sourcesOf,
  weighTasks,
} from './propose/sources.ts';
export { resolvePath } from './resolve-path.ts';
export { refuseSecrets } from './secrets.ts';
export { STARTER_TASKS, starterProject } from './starter-project.ts';
