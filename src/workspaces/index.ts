export { layFiles, manifestHash, namesInterpreter } from './folders/folder-files.ts';
export { removeStale } from './folders/remove-stale.ts';
export { openRolloutFolder, type RolloutFolder } from './folders/rollout-folder.ts';
export { atExit, MARKER, markedTree, newRolloutId, OWN_GROUP } from './processes/process-tree.ts';
export {
  describeKeptBack,
  openProjectTemplate,
  type ProjectTemplate,
  projectFiles,
} from './project/project-template.ts';
export { findGit, gitEnvironment, QUIET_GIT } from './project/tracked-files.ts';
export type { BubblewrapOptions, BubblewrapProbe, OverlayProbe } from './sandbox/bubblewrap.ts';
export type { ContainerOptions } from './sandbox/container.ts';
export { openSandbox, probeSandbox, type SandboxChoice, type SandboxProbe, sandboxes } from './sandboxes.ts';
export { openTemplate, type Setup, type Template, type TemplateOptions } from './views/template.ts';
export { openWorkspace, type Workspace, type WorkspaceOptions } from './views/workspace.ts';
