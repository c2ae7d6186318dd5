import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { SkillError } from '../core/errors.ts';
import { isPlainPath, type SandboxRequest } from '../core/sandbox.ts';
import { requireToolNames, type ToolShims } from './tool-shims.ts';

/** What a command gets on disk: the folder that it works in, its tools, and an empty home. */
export type WorkFolder = AsyncDisposable & {
  readonly work: string;
  readonly home: string;
  readonly shims: ToolShims;
};

type Wanted = Pick<SandboxRequest, 'cwd' | 'files' | 'tools'>;

/** Everything is checked before anything is written. Goes away with all that is in it, but for a folder of the caller's. */
export async function openWorkFolder({ cwd, files = {}, tools = [] }: Wanted): Promise<WorkFolder> {
  requireToolNames(tools);
  for (const path of Object.keys(files)) requirePlainPath(path);
  const root = await realpath(await mkdtemp(join(tmpdir(), 'skillopt-work-')));
  const folder = {
    work: cwd ?? join(root, 'work'),
    home: join(root, 'home'),
    shims: { folder: join(root, 'tools'), log: join(root, 'log', 'called') },
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true, maxRetries: 3 }),
  };
  await Promise.all(['work', 'home', 'tools', 'log'].map((name) => mkdir(join(root, name), { recursive: true })));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder.work, path)), { recursive: true });
    await writeFile(join(folder.work, path), text);
  }
  return folder;
}

function requirePlainPath(path: string): void {
  if (isPlainPath(path)) return;
  throw new SkillError('TASKS_INVALID', `${JSON.stringify(path)} cannot be the name of a file in a work folder`, {
    hint: 'Use relative paths such as check.py or data/in.txt.',
  });
}
