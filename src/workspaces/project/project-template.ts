import { lstat, mkdir, open, readdir, readFile, readlink, symlink } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { isPlainPath, type Sandbox, SkillError } from '../../core/contracts/index.ts';
import { openRolloutFolder } from '../folders/rollout-folder.ts';
import { openTemplate } from '../views/template.ts';
import { type ProjectFile, readBlobs, trackedFiles } from './tracked-files.ts';

export type ProjectTemplate = Awaited<ReturnType<typeof openProjectTemplate>>;

type ProjectTemplateOptions = {
  readonly folder: string;
  /** Of a repository. Default: the newest. */
  readonly commit?: string | undefined;
  readonly sandbox: Sandbox;
};

/** A template that is a copy of a project, without its history, its secrets, and what is not committed. Writes nothing in the project. */
export async function openProjectTemplate({ folder, commit, sandbox }: ProjectTemplateOptions) {
  const found = await projectFiles(folder, commit);
  await using staging = await openRolloutFolder();
  const source = join(staging.path, 'project');
  await mkdir(source);
  const more = await copyFiles(folder, source, found);
  return {
    template: await openTemplate({ source, sandbox, git: found.commit !== undefined }),
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

/** A private key, whatever the file is called. */
const secretIn = (bytes: Buffer) =>
  /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----/.test(bytes.toString('latin1', 0, 4_096)) ? 'secret' : undefined;

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

/** A file of a project that is not in a copy of it. */
type LeftOutFile = {
  readonly path: string;
  readonly why: 'secret' | 'too large' | 'leads out of the folder' | 'another repository' | 'no plain file';
};

/** What a copy of a project would hold. */
type ProjectFiles = {
  /** Of a repository; otherwise it is the folder as it is now. */
  readonly commit: string | undefined;
  readonly files: readonly ProjectFile[];
  readonly leftOut: readonly LeftOutFile[];
};

/** More than source code needs. */
const PROJECT_LIMITS = { files: 50_000, fileBytes: 5_000_000, bytes: 200_000_000 } as const;

/** The committed files of a repository, or all files of another folder; without secrets, and within limits. */
export async function projectFiles(folder: string, commit?: string): Promise<ProjectFiles> {
  const tracked = await trackedFiles(folder, commit);
  const all = tracked?.files ?? (await plainFiles(folder, PROJECT_LIMITS.files));
  if (all.length > PROJECT_LIMITS.files) {
    const most = PROJECT_LIMITS.files.toLocaleString('en-US');
    throw new SkillError('CONFIG_INVALID', `${folder} holds more than ${most} files, too many for a copy`, {
      hint: 'Run it in the folder of one project; in a repository only what is committed counts.',
    });
  }
  const whyNot = new Map(all.map((file) => [file, whyLeftOut(file)]));
  for (const file of beyondLimit(all.filter((one) => whyNot.get(one) === undefined))) whyNot.set(file, 'too large');
  return {
    commit: tracked?.commit,
    files: all.filter((file) => whyNot.get(file) === undefined),
    leftOut: all.flatMap((file) => {
      const why = whyNot.get(file);
      return why === undefined ? [] : [{ path: file.path, why }];
    }),
  };
}

function whyLeftOut({ path, kind, size }: ProjectFile): LeftOutFile['why'] | undefined {
  if (kind === 'repository') return 'another repository';
  if (kind === 'other' || !isPlainPath(path)) return 'no plain file';
  if (isSecretPath(path)) return 'secret';
  return size > PROJECT_LIMITS.fileBytes ? 'too large' : undefined;
}

/** The largest files, until the rest fits. */
function beyondLimit(files: readonly ProjectFile[]): ProjectFile[] {
  let bytes = files.reduce((sum, { size }) => sum + size, 0);
  const gone: ProjectFile[] = [];
  for (const file of files.toSorted((a, b) => b.size - a.size)) {
    if (bytes <= PROJECT_LIMITS.bytes) break;
    gone.push(file);
    bytes -= file.size;
  }
  return gone;
}

/** Such as: 3 secret (.env, config/key.pem, …). Nothing, where all is there. */
export function describeKeptBack(leftOut: readonly LeftOutFile[]): string {
  const reasons = [...new Set(leftOut.map(({ why }) => why))];
  return reasons
    .map((why) => {
      const paths = leftOut.filter((one) => one.why === why).map(({ path }) => path);
      const shown = [...paths.slice(0, 3), ...(paths.length > 3 ? ['…'] : [])].join(', ');
      return `${paths.length} ${why} (${shown})`;
    })
    .join('; ');
}

/** The files of a folder that is no repository, without those that programs put there. Stops beyond `max`. */
async function plainFiles(folder: string, max: number): Promise<ProjectFile[]> {
  const found: ProjectFile[] = [];
  const waiting = [''];
  for (let below = waiting.pop(); below !== undefined && found.length <= max; below = waiting.pop()) {
    const entries = await readdir(join(folder, below), { withFileTypes: true });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = below === '' ? entry.name : `${below}/${entry.name}`;
      if (!entry.isDirectory()) found.push(await toFile(folder, path));
      else if (!isFilledByPrograms(entry.name)) waiting.push(path);
    }
  }
  return found;
}

async function toFile(folder: string, path: string): Promise<ProjectFile> {
  const there = await lstat(join(folder, path));
  const kind = there.isFile() ? 'file' : there.isSymbolicLink() ? 'link' : 'other';
  return { path, kind, isRunnable: (there.mode & 0o111) !== 0, size: there.size };
}

/** Names of files that usually hold keys or passwords. */
const SECRET_NAMES = [
  /^\.env(?:\.(?!(?:example|sample|template|dist|defaults)$).*)?$/i,
  /^.+\.env$/i,
  /\.(?:pem|key|p8|p12|pfx|jks|keystore|kdbx|ppk|asc|gpg|tfstate|tfvars)(?:\.backup)?$/i,
  /^id_(?:rsa|dsa|ecdsa|ed25519)(?!.*\.pub$)/i,
  /^\.(?:npmrc|pypirc|netrc|pgpass|htpasswd|git-credentials|dockercfg|vault-token)$/i,
  /^(?:credentials|service[-_]account.*|client_secret.*)\.json$/i,
  /^secrets?\.(?:json|ya?ml|toml|ini|env|properties)$/i,
];
const SECRET_FOLDERS = new Set(['.ssh', '.aws', '.gnupg', '.azure', '.kube']);

function isSecretPath(path: string): boolean {
  const names = path.split('/');
  return names.some((name) => SECRET_FOLDERS.has(name)) || SECRET_NAMES.some((pattern) => pattern.test(names.at(-1)!));
}

/** Folders that programs fill, and can fill again. */
const isFilledByPrograms = (name: string) =>
  /^(?:\.git|\.hg|\.svn|node_modules|\.venv|venv|__pycache__|\.cache|\.tox|\.gradle|\.(?:mypy|pytest|ruff)_cache)$/.test(
    name,
  );
