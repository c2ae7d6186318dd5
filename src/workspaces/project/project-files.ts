import { isPlainPath, SkillError } from '../../core/contracts/index.ts';
import { isSecretPath, type KeptBack } from './kept-back.ts';
import { plainFiles } from './plain-files.ts';
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

/** Of a repository what is committed; without secrets, and within limits. */
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

/** The largest, until the rest fits. */
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
