import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openSandbox, type SandboxRequest, sandboxes } from 'skillopt/workspaces';
import { describe, expect, it } from 'vitest';
import { tempFolder } from '../../support/temp-folder.ts';
import { kinds, lacksBubblewrap, sh } from './kinds.ts';

const asked = (request: Partial<SandboxRequest>) => ({ command: sh('true'), timeoutMs: 30_000, ...request });

/** Programs of these names that end as the script says, first on the search path. */
function standIns(scripts: Readonly<Record<string, string>>) {
  const folder = tempFolder();
  for (const [name, script] of Object.entries(scripts)) {
    writeFileSync(join(folder.path, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder.path, name), 0o755);
  }
  return { path: `${folder.path}:${process.env.PATH}`, [Symbol.dispose]: () => folder[Symbol.dispose]() };
}

describe.each(kinds)('%s', (_, open) => {
  it.each([0, 1, 125])('passes on exit code %d of a command, with limits and without', async (code) => {
    const command = sh(`exit ${code}`);
    expect(await open().run(asked({ command }))).toMatchObject({ exitCode: code });
    expect(await open().run(asked({ command, limits: { diskMb: 10 } }))).toMatchObject({ exitCode: code });
  });

  it('tells of a program that is not there, or cannot be run, as a shell does', async () => {
    const run = (name: string) =>
      open().run(asked({ command: [name], files: { program: 'true' }, limits: { diskMb: 10 } }));
    expect((await run('no-such-program')).exitCode).toBe(127);
    expect((await run('./program')).exitCode).toBe(126);
  });
});

describe.skipIf(lacksBubblewrap)('bubblewrap that fails before the command begins', () => {
  it('throws when a mount cannot be made', async () => {
    const mounts = [{ from: '/no/such/folder', to: '/data' }];
    await expect(openSandbox().run(asked({ mounts }))).rejects.toThrow(
      "the sandbox failed: bwrap: Can't find source path /no/such/folder",
    );
  });

  it.each([1, 125])('throws when it ends with exit code %d by itself, whatever its words', async (code) => {
    const probes = '*" --json-status-fd 1 "*) exit 0;;';
    const failing = `case " $* " in ${probes} esac; echo "setting up uid map: Permission denied" >&2; exit ${code}`;
    using programs = standIns({ bwrap: failing });
    const sandbox = sandboxes.bubblewrap({ path: programs.path });
    await expect(sandbox.run(asked({}))).rejects.toThrow('the sandbox failed: setting up uid map: Permission denied');
  });
});

it('a container’s engine that starts nothing throws, and its command may end with the same code', async () => {
  const { PATH } = process.env;
  const log = `log=$(printf '%s\\n' "$@" | sed -n 's/^type=bind,source=\\(.*\\),target=.skillopt.log$/\\1/p')`;
  const run = async (script: string) => {
    using programs = standIns({ docker: `[ "$1" = run ] || exit 0\n${log}\n${script}` });
    process.env.PATH = programs.path;
    return await openSandbox({ container: 'image:1' }).run(asked({}));
  };
  try {
    await expect(run('echo "docker: no space left on device." >&2; exit 125')).rejects.toThrow(
      'the sandbox failed: docker: no space left on device.',
    );
    expect(await run('touch "$log/started"; exit 125')).toMatchObject({ exitCode: 125 });
    expect(await run('exit 1')).toMatchObject({ exitCode: 1 });
  } finally {
    process.env.PATH = PATH;
  }
});
