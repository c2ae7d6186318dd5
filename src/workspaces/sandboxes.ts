import { SkillError } from '../core/errors.ts';
import type { Sandbox } from '../core/sandbox.ts';
import { suggestion } from '../core/text/closest-name.ts';
import { type BubblewrapProbe, bubblewrap, probeBubblewrap } from './bubblewrap.ts';
import { runCommand } from './run-command.ts';
import { readToolCalls, writeToolShims } from './tool-shims.ts';
import { openWorkFolder } from './work-folder.ts';

/**
 * Every sandbox by name. `none` is none: commands run with the rights and the network of who started us, though still in a
 * folder of their own, without our environment, and to their time. It is used only where somebody wrote its name.
 */
export const sandboxes = { bubblewrap, none: noSandbox } as const;

const SANDBOX_NAMES = ['auto', ...Object.keys(sandboxes)] as readonly ('auto' | keyof typeof sandboxes)[];

/** `auto` is the best that there is for this platform, and never `none`. */
export function openSandbox(name: string = 'auto'): Sandbox {
  if (name === 'auto') return sandboxes.bubblewrap();
  if (Object.hasOwn(sandboxes, name)) return sandboxes[name as keyof typeof sandboxes]();
  throw new SkillError('CONFIG_INVALID', `unknown sandbox "${name}"${suggestion(name, SANDBOX_NAMES)}`, {
    hint: `There is ${SANDBOX_NAMES.join(', ')}.`,
  });
}

export type SandboxProbe = {
  /** What `auto` would use here; `undefined` when commands would be refused. */
  readonly auto: 'bubblewrap' | undefined;
  readonly bubblewrap: BubblewrapProbe;
};

/** Which sandboxes work here, and why others do not. Tried, not guessed. */
export async function probeSandbox({
  path = process.env.PATH,
}: {
  readonly path?: string;
} = {}): Promise<SandboxProbe> {
  const found = await probeBubblewrap(path);
  return { auto: found.isAvailable ? 'bubblewrap' : undefined, bubblewrap: found };
}

function noSandbox(): Sandbox {
  return {
    id: 'none',
    hasOwnNames: false,
    takesOverlays: async () => false,
    ready: async () => {},
    async run(request) {
      const { command, tools = [], stdin, timeoutMs, signal, env = {} } = request;
      await using folder = await openWorkFolder(request);
      if (tools.length > 0) await writeToolShims(tools, folder.shims);
      const path = [folder.shims.folder, process.env.PATH].join(process.platform === 'win32' ? ';' : ':');
      const settings = { HOME: folder.home, TMPDIR: folder.home, LANG: 'C.UTF-8', ...env, PATH: path };
      const ended = await runCommand({ command, cwd: folder.work, env: settings, stdin, timeoutMs, signal });
      return { ...ended, toolsCalled: await readToolCalls(tools, folder.shims) };
    },
  };
}
