import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { SkillError } from '../../core/contracts/index.ts';
import { openRolloutFolder } from '../folders/rollout-folder.ts';
import { isolation } from './isolation.ts';
import { canMount, END_WITH_US, launched } from './launcher.ts';

/** What became of trying to run something in bubblewrap. */
export type BubblewrapProbe =
  | {
      readonly isAvailable: true;
      readonly hasProc: boolean;
      /** Whether the kernel can be told to end a command with us before it has begun. */
      readonly endsWithUs: boolean;
    }
  | { readonly isAvailable: false; readonly reason: string };

/** By really running it: that it is installed does not say that the kernel, or a container, lets it work. */
export async function probeBubblewrap(path: string | undefined = process.env.PATH): Promise<BubblewrapProbe> {
  if (process.platform !== 'linux') return { isAvailable: false, reason: otherSystem() };
  const tried: string[] = [];
  for (const hasProc of [true, false]) {
    const { failed, code, stderr, shortMessage } = await tryOut([...bwrap(hasProc), '--', 'true'], path);
    if (!failed) return { isAvailable: true, hasProc, endsWithUs: await canEndWithUs(path) };
    if (code === 'ENOENT') return { isAvailable: false, reason: 'bubblewrap (bwrap) is not installed' };
    tried.push(stderr.trim().slice(0, 300) || (shortMessage ?? ''));
  }
  return { isAvailable: false, reason: `bubblewrap is installed, but the system refuses it: ${tried[0]}` };
}

const canEndWithUs = async (path: string | undefined) => !(await tryOut([...END_WITH_US, 'true'], path)).failed;

const bwrap = (hasProc: boolean) => ['bwrap', ...isolation({ hasProc })];

const otherSystem = () =>
  `there is no bubblewrap on ${process.platform}${process.platform === 'darwin' ? ', and seatbelt is not served yet' : ''}`;

const tryOut = ([file = '', ...args]: readonly string[], path: string | undefined, cwd?: string) =>
  execa(file, args, {
    ...(cwd === undefined ? {} : { cwd }),
    extendEnv: false,
    env: path === undefined ? {} : { PATH: path },
    reject: false,
    timeout: 10_000,
    encoding: 'utf8',
  });

export type OverlayProbe = { readonly isAvailable: true } | { readonly isAvailable: false; readonly reason: string };

/** Whether a view of a folder below `root` can be mounted, changed, and its changes found on disk. */
export async function probeOverlay(root?: string, path = process.env.PATH): Promise<OverlayProbe> {
  await using folder = await openRolloutFolder(root);
  if (!canMount(folder.path)) return { isAvailable: false, reason: `${folder.path} has characters that mount reads` };
  const [lower, upper, scratch, view] = ['lower', 'upper', 'scratch', 'view'].map((name) => join(folder.path, name));
  await Promise.all([lower, upper, scratch, view].map((one) => mkdir(one!)));
  await writeFile(join(lower!, 'a'), 'a');
  const workspace = { path: view!, overlay: { lower: lower!, upper: upper!, scratch: scratch! } };
  const inside = ['--bind', view!, '/workspace', '--chdir', '/workspace', '--', 'sh', '-c', 'cat a > b && rm a'];
  const { stderr, shortMessage } = await tryOut(launched([...bwrap(false), ...inside], { workspace }), path);
  const changed = await readFile(join(upper!, 'b'), 'utf8').catch(() => undefined);
  if (changed === 'a') return { isAvailable: true };
  return { isAvailable: false, reason: stderr.trim().slice(0, 300) || (shortMessage ?? 'nothing was written') };
}

/** What to say to someone who needs a sandbox, and has none. `first` is the shortest way out, where there is one. */
export function unavailable(reason: string, first: readonly string[] = []): SkillError {
  const hint = [
    ...first,
    'Install bubblewrap (apt-get install bubblewrap, dnf install bubblewrap) and allow unprivileged user namespaces;',
    'or name a container image that has what is needed: `sandbox: { container: IMAGE }`;',
    'or, on a machine that may be lost, write `sandbox: none`: commands then run with your rights and your network.',
  ].join(' ');
  return new SkillError('SANDBOX_UNAVAILABLE', `A sandbox is needed to run commands, and there is none: ${reason}`, {
    hint,
  });
}
