import { type Subject, wireDocument } from '../app/index.ts';
import { type LoadedProject, resolvePath } from '../project/index.ts';
import { skillFileAt } from '../skills/index.ts';
import { gitVersion } from './git-version.ts';
import type { Terminal } from './terminal/terminal.ts';

const GIT = 'git:';

type Baseline = AsyncDisposable & { readonly subject: Subject | undefined };

/** What a document is compared with: another one, or an earlier version of itself. Nothing, where it is new. */
export async function openBaseline(
  loaded: LoadedProject,
  { document }: Subject,
  baseline: string | undefined,
  { io, note }: Terminal,
): Promise<Baseline> {
  const nothing = async () => {};
  if (baseline === undefined) return { subject: undefined, [Symbol.asyncDispose]: nothing };
  if (!baseline.startsWith(GIT)) {
    const subject = await wireDocument(loaded, resolvePath(io.cwd(), baseline), baseline);
    return { subject, [Symbol.asyncDispose]: nothing };
  }
  const revision = baseline.slice(GIT.length);
  const version = await gitVersion(await skillFileAt(resolvePath(io.cwd(), document)), revision);
  if (version.path === undefined) note(`${document} is not in ${revision}: there is nothing to compare it with`);
  const subject = version.path === undefined ? undefined : await wireDocument(loaded, version.path, baseline);
  return { subject, [Symbol.asyncDispose]: () => version[Symbol.asyncDispose]() };
}
