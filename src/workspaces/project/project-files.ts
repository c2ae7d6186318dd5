import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isPlainPath, SkillError } from '../../core/contracts/index.ts';
import { type ProjectFile, trackedFiles } from './tracked-files.ts';

export type LeftOutFile = { readonly path: string; readonly why: KeptBack };

/** What a copy of a project would hold. */
export type ProjectFiles = {
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
  if (all.length > PROJECT_LIMITS.files) throw tooMany(folder);
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

function whyLeftOut({ path, kind, size }: ProjectFile): KeptBack | undefined {
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

function tooMany(folder: string): SkillError {
  const most = PROJECT_LIMITS.files.toLocaleString('en-US');
  return new SkillError('CONFIG_INVALID', `${folder} holds more than ${most} files, too many for a copy`, {
    hint: 'Run it in the folder of one project; in a repository only what is committed counts.',
  });
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

/** Why a file of a project is not in a copy of it. */
type KeptBack = 'secret' | 'too large' | 'leads out of the folder' | 'another repository' | 'no plain file';

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

/** Whether a path of a project looks like a secret by its name. */
function isSecretPath(path: string): boolean {
  const names = path.split('/');
  return names.some((name) => SECRET_FOLDERS.has(name)) || SECRET_NAMES.some((pattern) => pattern.test(names.at(-1)!));
}

/** Whatever the file is called. */
export const holdsPrivateKey = (bytes: Uint8Array) =>
  /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----/.test(Buffer.from(bytes.subarray(0, 4_096)).toString('latin1'));

/** Folders that programs fill, and can fill again. */
const isFilledByPrograms = (name: string) =>
  /^(?:\.git|\.hg|\.svn|node_modules|\.venv|venv|__pycache__|\.cache|\.tox|\.gradle|\.(?:mypy|pytest|ruff)_cache)$/.test(
    name,
  );
