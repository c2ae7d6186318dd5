import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Sandbox, WorkspaceDiff, WorkspaceView } from '../../core/contracts/index.ts';
import { copyTree } from '../folders/folder-files.ts';
import { openRolloutFolder, type RolloutFolder } from '../folders/rollout-folder.ts';
import { canMount } from '../sandbox/launcher.ts';
import { compareOverlay, compareTrees } from './compare-trees.ts';
import { describeChanges } from './describe-changes.ts';
import type { Template } from './template.ts';

/** A folder of one rollout, which begins as its template. Disposing removes it, soon after. */
export type Workspace = AsyncDisposable & {
  readonly view: WorkspaceView;
  /** What has changed in it. Nothing may run in it meanwhile. */
  diff(): Promise<WorkspaceDiff>;
};

export type WorkspaceOptions = {
  readonly template: Template;
  readonly sandbox: Sandbox;
  readonly root?: string | undefined;
};

/** A view of the template that keeps changes apart, where the sandbox can show one; otherwise a copy. */
export async function openWorkspace({ template, sandbox, root }: WorkspaceOptions): Promise<Workspace> {
  const takesOverlays = canMount(template.path) && (await sandbox.takesOverlays(root));
  const folder = await openRolloutFolder(root);
  const view = takesOverlays ? await overlayIn(folder, template) : await copyIn(folder, template);
  return {
    view,
    diff: async () =>
      describeChanges(view.overlay ? await compareOverlay(view) : await compareTrees(template.path, view.path)),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

async function overlayIn({ path }: RolloutFolder, template: Template): Promise<WorkspaceView> {
  const below = (name: string) => join(path, name);
  await Promise.all(['view', 'upper', 'scratch'].map((name) => mkdir(below(name))));
  return { path: below('view'), overlay: { lower: template.path, upper: below('upper'), scratch: below('scratch') } };
}

async function copyIn({ path }: RolloutFolder, template: Template): Promise<WorkspaceView> {
  await copyTree(template.path, join(path, 'workspace'));
  return { path: join(path, 'workspace') };
}
