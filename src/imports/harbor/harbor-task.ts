import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, join, posix } from 'node:path';
import type { WorkspaceTaskInput } from '../../core/judge/index.ts';
import {
  type FileContents,
  filesIn,
  type LeftOut,
  NotCarried,
  readBelow,
  readContents,
  reasonOf,
  type Wanted,
} from '../left-out.ts';
import type { Row } from '../rows.ts';
import { type Copy, type Dockerfile, readDockerfile, readTaskToml, type TaskSettings } from './task-files.ts';

export const isHarborTask = (folder: string): boolean => existsSync(join(folder, 'task.toml'));

export type HarborTask = { readonly rows: readonly Row<WorkspaceTaskInput>[]; readonly leftOut: readonly LeftOut[] };

/** A folder with task.toml, instruction.md, environment/ and tests/. What is in solution/ is never read. */
export async function readHarborTask(folder: string): Promise<HarborTask> {
  const name = basename(folder);
  const place = (where: string) => `${name}: ${where}`;
  try {
    const settings = readTaskToml(await readBelow(folder, 'task.toml'));
    const { docker, contents } = await readEnvironment(folder, settings);
    const tests = await readTests(folder);
    const value = toTask(await readBelow(folder, 'instruction.md'), { name, settings, docker, contents, tests });
    const leftOut = [...settings.leftOut, ...lostOf(docker)].map((one) => ({ ...one, where: place(one.where) }));
    return { rows: [{ value, where: join(folder, 'task.toml') }], leftOut };
  } catch (error) {
    return { rows: [], leftOut: [{ where: name, what: 'the task', why: reasonOf(error) }] };
  }
}

type Parts = {
  readonly name: string;
  readonly settings: TaskSettings;
  readonly docker: Dockerfile | undefined;
  readonly contents: FileContents;
  readonly tests: FileContents;
};

function toTask(prompt: string, { name, settings, docker, contents, tests }: Parts): WorkspaceTaskInput {
  const { agentMs, memoryMb, diskMb, verifyMs, taskType } = settings;
  const limits = {
    ...(agentMs === undefined ? {} : { timeoutMs: agentMs }),
    ...(memoryMb === undefined ? {} : { memoryMb }),
    ...(diskMb === undefined ? {} : { diskMb }),
  };
  return {
    id: settings.name ?? name,
    prompt,
    ...contents,
    at: docker?.workdir ?? '/app',
    verify: {
      command: ['bash', '/tests/test.sh'],
      ...tests,
      at: '/tests',
      env: { ...docker?.env, ...settings.env },
      verdict: 'reward',
      ...(verifyMs === undefined ? {} : { timeoutMs: verifyMs }),
    },
    ...(Object.keys(limits).length === 0 ? {} : { limits }),
    ...(taskType === undefined ? {} : { taskType }),
  };
}

const DOWNLOADS = /^[^#\n]*?\b(apt-get|apk|dnf|curl|wget|uvx?|npx|pip3? install|npm (?:ci|i|install)|git clone)\b/m;

/** Tests that first fetch their programs would end in a zero that says nothing about the work. */
async function readTests(folder: string): Promise<FileContents> {
  const script = await readBelow(folder, 'tests/test.sh');
  const [, program] = DOWNLOADS.exec(script) ?? [];
  if (program !== undefined)
    throw new NotCarried(`tests/test.sh downloads what it needs (${program}), and verifiers have no network`);
  const tests = join(folder, 'tests');
  const paths = await filesIn(tests);
  return readContents(
    tests,
    paths.map((path) => ({ path, source: path })),
  );
}

async function readEnvironment(folder: string, { image }: TaskSettings) {
  const environment = join(folder, 'environment');
  const others = ['docker-compose.yaml', 'docker-compose.yml', '.dockerignore'];
  const other = others.find((name) => existsSync(join(environment, name)));
  if (other !== undefined) throw new NotCarried(`environment/${other} needs docker`);
  if (existsSync(join(environment, 'Dockerfile'))) {
    const docker = readDockerfile(await readBelow(environment, 'Dockerfile'));
    const wanted = await Promise.all(docker.copies.map((copy) => wantedOf(copy, environment, docker.workdir)));
    return { docker, contents: await readContents(environment, wanted.flat()) };
  }
  if (image !== undefined) throw new NotCarried(`its files are in the image ${image}, which needs docker`);
  return { docker: undefined, contents: {} };
}

/** A folder gives what is in it, a file itself. */
async function wantedOf({ sources, to, isInto }: Copy, environment: string, workdir: string): Promise<Wanted[]> {
  const wanted: Wanted[] = [];
  for (const source of sources.map((one) => posix.normalize(`./${one}`).replace(/\/$/, ''))) {
    const isFolder = await stat(join(environment, source)).then(
      (found) => found.isDirectory(),
      () => false,
    );
    const inside = isFolder ? await filesIn(join(environment, source)) : [''];
    for (const path of inside) {
      const end = isFolder
        ? posix.join(to, path)
        : isInto || to === workdir
          ? posix.join(to, posix.basename(source))
          : to;
      wanted.push({ path: fromWorkdir(end, workdir), source: posix.join(source, path) });
    }
  }
  return wanted;
}

function fromWorkdir(path: string, workdir: string): string {
  const inside = posix.relative(workdir, path);
  if (inside !== '' && !inside.startsWith('..')) return inside;
  throw new NotCarried(`COPY to ${path} needs docker: only ${workdir}, where the agent works, is there without it`);
}

const lostOf = (docker: Dockerfile | undefined): LeftOut[] =>
  docker === undefined
    ? []
    : [
        { where: 'environment/Dockerfile', what: `FROM ${docker.image}`, why: 'programs are those of the sandbox' },
        ...docker.unused.map((what) => ({ where: 'environment/Dockerfile', what, why: 'files belong to who runs it' })),
        ...Object.keys(docker.env).map((name) => ({
          where: 'environment/Dockerfile',
          what: `ENV ${name}`,
          why: 'the verifier has it, the agent has not',
        })),
      ];
