import { mkdir, open, readFile, readlink, symlink } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import type { Sandbox } from '../../core/contracts/index.ts';
import { openRolloutFolder } from '../folders/rollout-folder.ts';
import { openTemplate, type Template } from '../views/template.ts';
import { holdsPrivateKey, type LeftOutFile, type ProjectFiles, projectFiles } from './project-files.ts';
import { type ProjectFile, readBlobs } from './tracked-files.ts';

export type ProjectTemplate = {
  readonly template: Template;
  readonly commit: string | undefined;
  readonly files: number;
  readonly leftOut: readonly LeftOutFile[];
};

type ProjectTemplateOptions = {
  readonly folder: string;
  /** Of a repository. Default: the newest. */
  readonly commit?: string | undefined;
  readonly sandbox: Sandbox;
};

/** A template that is a copy of a project, without its history, its secrets, and what is not committed. Writes nothing in the project. */
export async function openProjectTemplate({
  folder,
  commit,
  sandbox,
}: ProjectTemplateOptions): Promise<ProjectTemplate> {
  const found = await projectFiles(folder, commit);
  await using staging = await openRolloutFolder();
  const source = join(staging.path, 'project');
  await mkdir(source);
  const more = await copyFiles(folder, source, found);
  const template = await openTemplate({ source, sandbox, git: found.commit !== undefined });
  return {
    template,
    commit: found.commit,
    files: found.files.length - more.length,
    leftOut: [...found.leftOut, ...more],
  };
}

/** Links last, so that nothing is written through one. Gives the files that were left out because of their content. */
async function copyFiles(folder: string, to: string, { files, commit }: ProjectFiles): Promise<LeftOutFile[]> {
  const leftOut: LeftOutFile[] = [];
  const read = commit === undefined ? readPlain : readBlobs;
  for (const kind of ['file', 'link'] as const) {
    const wanted = files.filter((file) => file.kind === kind);
    for await (const [file, bytes] of read(folder, wanted)) {
      const why = kind === 'file' ? secretIn(bytes) : leadsOut(file.path, bytes.toString());
      if (why === undefined) await write(join(to, file.path), file, bytes);
      else leftOut.push({ path: file.path, why });
    }
  }
  return leftOut;
}

async function* readPlain(folder: string, files: readonly ProjectFile[]): AsyncGenerator<[ProjectFile, Buffer]> {
  for (const file of files) {
    const path = join(folder, file.path);
    yield [file, file.kind === 'link' ? Buffer.from(await readlink(path)) : await readFile(path)];
  }
}

const secretIn = (bytes: Uint8Array) => (holdsPrivateKey(bytes) ? 'secret' : undefined);

/** Without a sandbox, such a link would lead from a workspace to files of the person. */
function leadsOut(path: string, target: string) {
  const isOut = target.startsWith('/') || normalize(join(dirname(path), target)).split('/')[0] === '..';
  return isOut ? 'leads out of the folder' : undefined;
}

async function write(path: string, { kind, isRunnable }: ProjectFile, bytes: Buffer): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  if (kind === 'link') return symlink(bytes.toString(), path);
  await using file = await open(path, 'wx', isRunnable ? 0o755 : 0o644);
  await file.writeFile(bytes);
}
