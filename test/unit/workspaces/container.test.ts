import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openSandbox, type SandboxRequest } from 'skillopt/workspaces';
import { expect, it } from 'vitest';
import { tempFolder } from '../../support/temp-folder.ts';
import { sh } from './kinds.ts';

/** Takes down how it is called, and runs the command where its mounts really lie. */
const ENGINE = `#!/bin/sh
printf '%s\\n' "$*" >> "$(dirname "$0")/calls"
[ "$1" = run ] || exit 0
while [ "$1" != --entrypoint ]; do
  [ "$1" = --mount ] && case "$2" in *target=/workspace*|*target=/work) work=\${2#*source=}; work=\${work%%,*};; esac
  shift
done
shift 3
cd "$work" && exec /bin/sh "$@"
`;

async function withEngine<T>(engine: string, work: (calls: () => string[]) => Promise<T>): Promise<T> {
  using folder = tempFolder({ [engine]: ENGINE, calls: '' });
  chmodSync(join(folder.path, engine), 0o755);
  const { PATH } = process.env;
  process.env.PATH = `${folder.path}:${PATH}`;
  try {
    return await work(() => readFileSync(join(folder.path, 'calls'), 'utf8').trim().split('\n'));
  } finally {
    process.env.PATH = PATH;
  }
}

const run = (request: Partial<SandboxRequest>, engine: 'docker' | 'podman' = 'docker') =>
  openSandbox({ container: 'image:1', engine }).run({ command: sh('true'), timeoutMs: 60_000, ...request });

it('runs a command in a container of its own, and removes that', async () => {
  using folder = tempFolder({ 'a.txt': 'A' });
  await withEngine('docker', async (calls) => {
    const result = await run({
      command: sh('cat a.txt; echo "$KEY"; exit 3'),
      workspace: { path: folder.path },
      mounts: [{ from: '/data, all', to: '/data' }],
      env: { KEY: 'sk-planted', PATH: '/own' },
      limits: { processes: 64, memoryMb: 256, diskMb: 10 },
    });
    expect(result).toMatchObject({ exitCode: 3, stdout: 'Ask-planted' });
    const called = calls().find((call) => call.startsWith('run '))!;
    const name = /--name (skillopt-\S+)/.exec(called)![1]!;
    for (const part of [
      ...[
        '--rm --init',
        '--network none',
        '--cap-drop ALL',
        '--security-opt no-new-privileges',
        '--workdir /workspace',
      ],
      ...['--pids-limit 64', '--memory 256m --memory-swap 256m', '--ulimit fsize=10485760', '--env KEY '],
      ...[
        `--mount type=bind,source=${folder.path},target=/workspace `,
        'type=bind,"source=/data, all",target=/data,readonly',
      ],
      ...[
        `--user ${process.getuid?.()}:${process.getgid?.()}`,
        "PATH='/skillopt/tools:/own':$PATH",
        '/bin/sh image:1 -c',
      ],
    ])
      expect(called).toContain(part);
    expect(called).not.toContain('sk-planted');
    expect(calls().at(-1)).toBe(`rm --force ${name}`);
  });
});

it('opens the network when that is said, and stops a container by its name', async () => {
  await withEngine('podman', async (calls) => {
    const result = await run({ command: sh('sleep 600'), network: 'open', timeoutMs: 300 }, 'podman');
    expect(result).toMatchObject({ timedOut: true, exitCode: undefined });
    expect(calls().find((call) => call.startsWith('run '))).toContain('--network bridge');
    expect(calls().filter((call) => call.startsWith('stop --time 2 skillopt-')).length).toBe(1);
  });
});

it('refuses at once without an engine, and names ways out', async () => {
  const { PATH } = process.env;
  process.env.PATH = '/nowhere';
  const error = await openSandbox({ container: 'image' })
    .ready()
    .catch((thrown) => thrown);
  process.env.PATH = PATH;
  expect(error).toMatchObject({
    code: 'SANDBOX_UNAVAILABLE',
    message: expect.stringContaining('docker is not installed'),
  });
  expect(error.hint).toMatch(/bubblewrap.*container.*none/);
});

it('says how to start an engine that is installed and does not answer', async () => {
  using folder = tempFolder({ docker: '#!/bin/sh\necho "Cannot connect to the Docker daemon" >&2\nexit 1\n' });
  chmodSync(join(folder.path, 'docker'), 0o755);
  const { PATH } = process.env;
  process.env.PATH = `${folder.path}:${PATH}`;
  const error = await openSandbox({ container: 'image' })
    .ready()
    .catch((thrown) => thrown);
  process.env.PATH = PATH;
  expect(error.message).toContain('docker is installed and does not answer: Cannot connect to the Docker daemon');
  expect(error.hint).toMatch(
    /^Start it \(sudo systemctl start docker.*`docker version` must succeed; Install bubblewrap/,
  );
});
