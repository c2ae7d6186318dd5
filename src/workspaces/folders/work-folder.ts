import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isPlainPath, type SandboxRequest, SkillError } from '../../core/contracts/index.ts';
import { requireToolNames, type ToolShims } from '../sandbox/tool-shims.ts';
import { layFiles } from './lay-files.ts';
import { openRolloutFolder, type RolloutFolder } from './rollout-folder.ts';

/** What a command gets on disk: the folder that it works in, its tools, an empty home and what is temporary. */
export type WorkFolder = RolloutFolder & {
  readonly work: string;
  readonly home: string;
  readonly temporary: string;
  readonly memory: string;
  readonly shims: ToolShims;
};

type Wanted = Pick<SandboxRequest, 'cwd' | 'workspace' | 'files' | 'tools'>;

/** Everything is checked before anything is written. Goes away with all that is in it, but for a folder of the caller's. */
export async function openWorkFolder(wanted: Wanted, root?: string): Promise<WorkFolder> {
  const { cwd, workspace, files = {}, tools = [] } = wanted;
  requireToolNames(tools);
  for (const path of Object.keys(files)) requirePlainPath(path);
  const rollout = await openRolloutFolder(root);
  const below = (name: string) => join(rollout.path, name);
  await Promise.all(['work', 'home', 'tools', 'log', 'tmp', 'shm'].map((name) => mkdir(below(name))));
  await Promise.all(['tmp', 'shm'].map((name) => chmod(below(name), 0o1777)));
  const work = workspace?.path ?? cwd ?? below('work');
  const { upper, lower } = workspace?.overlay ?? {};
  await layFiles({ folder: upper ?? work, lower }, files);
  return {
    ...rollout,
    work,
    home: below('home'),
    temporary: below('tmp'),
    memory: below('shm'),
    shims: { folder: below('tools'), log: join(below('log'), 'called') },
  };
}

/** Of a file that shall lie in a folder of ours. */
export function requirePlainPath(path: string): void {
  if (isPlainPath(path)) return;
  throw new SkillError('TASKS_INVALID', `${JSON.stringify(path)} cannot be the name of a file in a work folder`, {
    hint: 'Use relative paths such as check.py or data/in.txt.',
  });
}
