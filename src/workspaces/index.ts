/** Where commands run apart from the rest of the machine, and the folders that they change. */
export type {
  Mount,
  ResourceLimits,
  Sandbox,
  SandboxRequest,
  SandboxResult,
} from '../core/agent/sandbox.ts';
export type { FileChange, WorkspaceDiff, WorkspaceView } from '../core/agent/workspace.ts';
export { removeStale } from './folders/remove-stale.ts';
export { openRolloutFolder, type RolloutFolder } from './folders/rollout-folder.ts';
export type { BubblewrapOptions } from './sandbox/bubblewrap.ts';
export type { ContainerOptions } from './sandbox/container.ts';
export type { BubblewrapProbe, OverlayProbe } from './sandbox/probe-bubblewrap.ts';
export {
  openSandbox,
  probeSandbox,
  type SandboxChoice,
  type SandboxProbe,
  sandboxes,
} from './sandboxes.ts';
export { openTemplate, type Setup, type Template, type TemplateOptions } from './views/template.ts';
export { openWorkspace, type Workspace, type WorkspaceOptions } from './views/workspace.ts';
