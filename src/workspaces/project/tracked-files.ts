import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { SkillError } from '../../core/contracts/index.ts';

/** A file of a project, by its path there. */
export type ProjectFile = {
  readonly path: string;
  readonly kind: 'file' | 'link' | 'repository' | 'other';
  readonly isRunnable: boolean;
  readonly size: number;
  /** Where its bytes are: in the repository, by this name; otherwise on the disk. */
  readonly blob?: string;
};

/** The files of a commit below a folder. `undefined` where it is in no repository, has no commit, or none of its files is in one. */
export async function trackedFiles(folder: string, commit = 'HEAD') {
  const head = await askGit(folder, ['rev-parse', '--verify', '--quiet', `${commit}^{commit}`]);
  if (head === undefined || head.exitCode !== 0) return head && refuseIfUnreadable(head, folder);
  const name = textOf(head).trim();
  const listed = await askGit(folder, ['ls-tree', '-r', '-l', '-z', name]);
  if (listed!.exitCode !== 0) throw unreadable(folder, listed!);
  const files = textOf(listed!).split('\0').slice(0, -1).map(toFile);
  return files.length === 0 ? undefined : { commit: name, files };
}

const textOf = ({ bytes }: GitAnswer) => Buffer.from(bytes).toString();

/** Such as a repository of somebody else: its ignored files must not be copied like the others. */
function refuseIfUnreadable(head: GitAnswer, folder: string): undefined {
  if (head.exitCode === 1 || /not a git repository/i.test(head.stderr)) return undefined;
  throw unreadable(folder, head);
}

const unreadable = (folder: string, { stderr }: GitAnswer): SkillError =>
  new SkillError('ENV_FAILED', `git cannot read ${folder}: ${stderr.trim().slice(-300)}`, {
    hint: 'Fix the cause shown above: a copy of the project is made of what is committed there.',
  });

const KINDS: Readonly<Record<string, ProjectFile['kind']>> = { '120': 'link', '100': 'file', '160': 'repository' };

/** `100644 blob HASH    SIZE<tab>PATH` */
function toFile(row: string): ProjectFile {
  const [, mode = '', blob = '', size = '', path = ''] = /^(\d+) \w+ (\w+) +(\S+)\t(.*)$/s.exec(row) ?? [];
  const kind = KINDS[mode.slice(0, 3)] ?? 'other';
  return { path, kind, isRunnable: mode === '100755', size: Number(size) || 0, blob };
}

/** How many bytes are in memory at once. */
const AT_ONCE = 32_000_000;

/** The bytes of such files, in their order. */
export async function* readBlobs(folder: string, files: readonly ProjectFile[]): AsyncGenerator<[ProjectFile, Buffer]> {
  for (const batch of batches(files)) {
    const names = batch.map(({ blob }) => `${blob}\n`).join('');
    const answer = await askGit(folder, ['cat-file', '--batch'], names);
    let at = 0;
    for (const file of batch) {
      const from = answer!.bytes.indexOf(0x0a, at) + 1;
      const header = Buffer.from(answer!.bytes.subarray(at, Math.max(at, from))).toString();
      if (!/ blob \d+\n$/.test(header)) throw unreadable(folder, answer!);
      yield [file, Buffer.from(answer!.bytes.subarray(from, from + file.size))];
      at = from + file.size + 1;
    }
  }
}

function batches(files: readonly ProjectFile[]): ProjectFile[][] {
  const found: ProjectFile[][] = [];
  let room = 0;
  for (const file of files) {
    if (room < file.size || found.length === 0) {
      found.push([]);
      room = AT_ONCE;
    }
    found.at(-1)!.push(file);
    room -= file.size + 1_000;
  }
  return found;
}

/** Where systems put git. PATH is not used: a project may have put a program of its own in front. */
const GIT_PATHS = [
  '/usr/bin/git',
  '/usr/local/bin/git',
  '/opt/homebrew/bin/git',
  '/run/current-system/sw/bin/git',
  'C:\\Program Files\\Git\\cmd\\git.exe',
];

export const findGit = () => GIT_PATHS.find((path) => existsSync(path));

/** A configured monitor would run as a command of the one who wrote the configuration. */
export const QUIET_GIT = ['-c', 'core.fsmonitor=false'] as const;

export const gitEnvironment = (git: string) => ({ PATH: dirname(git), HOME: process.env.HOME, LC_ALL: 'C' });

/** Git writes nothing, asks nobody, and fetches nothing. */
const READ_ONLY = { GIT_OPTIONAL_LOCKS: '0', GIT_TERMINAL_PROMPT: '0', GIT_NO_LAZY_FETCH: '1' };

type GitAnswer = { readonly exitCode: number; readonly bytes: Uint8Array; readonly stderr: string };

/** What git prints about a folder; `undefined` where there is no git. */
async function askGit(folder: string, args: readonly string[], input = ''): Promise<GitAnswer | undefined> {
  const git = findGit();
  if (git === undefined) return undefined;
  const { execa } = await import('execa');
  const answer = await execa(git, [...QUIET_GIT, ...args], {
    cwd: folder,
    env: { ...gitEnvironment(git), ...READ_ONLY },
    extendEnv: false,
    input,
    encoding: 'buffer',
    reject: false,
    stripFinalNewline: false,
    maxBuffer: 2 ** 30,
  });
  const { exitCode = -1, stdout = new Uint8Array(), stderr = [] } = answer; // a program that could not be started has none
  return { exitCode, bytes: stdout, stderr: Buffer.from(stderr).toString() };
}
