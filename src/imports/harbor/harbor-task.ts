import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, join, posix } from 'node:path';
import { parse, TomlError } from 'smol-toml';
import type { WorkspaceTaskInput } from '../../core/judge/index.ts';
import { isObject } from '../../core/text/index.ts';
import {
  asTheyLie,
  type FileContents,
  filesIn,
  type LeftOut,
  NotCarried,
  readBelow,
  readContents,
  reasonOf,
  type SourceFile,
} from '../left-out.ts';
import type { Row } from '../rows.ts';
import { type Copy, type Dockerfile, readDockerfile } from './dockerfile.ts';

export const isHarborTask = (folder: string): boolean => existsSync(join(folder, 'task.toml'));

type HarborTask = { readonly rows: readonly Row<WorkspaceTaskInput>[]; readonly leftOut: readonly LeftOut[] };

/** A folder with task.toml, instruction.md, environment/ and tests/. What is in solution/ is never read. */
export async function readHarborTask(folder: string): Promise<HarborTask> {
  const name = basename(folder);
  try {
    const settings = readTaskToml(await readBelow(folder, 'task.toml'));
    const { docker, contents } = await readEnvironment(folder, settings);
    const tests = await readTests(folder);
    const value = toTask(await readBelow(folder, 'instruction.md'), { name, settings, docker, contents, tests });
    const leftOut = [...settings.leftOut, ...lostOf(docker)].map((one) => ({ ...one, where: `${name}: ${one.where}` }));
    return { rows: [{ value, where: join(folder, 'task.toml') }], leftOut };
  } catch (error) {
    return { rows: [], leftOut: [{ where: name, what: 'the task', why: reasonOf(error) }] };
  }
}

type TaskFiles = {
  readonly name: string;
  readonly settings: TaskSettings;
  readonly docker: Dockerfile | undefined;
  readonly contents: FileContents;
  readonly tests: FileContents;
};

function toTask(prompt: string, { name, settings, docker, contents, tests }: TaskFiles): WorkspaceTaskInput {
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
  return readContents(tests, asTheyLie(await filesIn(tests)));
}

async function readEnvironment(folder: string, { image }: TaskSettings) {
  const environment = join(folder, 'environment');
  const others = ['docker-compose.yaml', 'docker-compose.yml', '.dockerignore'];
  const other = others.find((name) => existsSync(join(environment, name)));
  if (other !== undefined) throw new NotCarried(`environment/${other} needs docker`);
  if (existsSync(join(environment, 'Dockerfile'))) {
    const docker = readDockerfile(await readBelow(environment, 'Dockerfile'));
    const files = await Promise.all(docker.copies.map((copy) => filesOf(copy, environment, docker.workdir)));
    return { docker, contents: await readContents(environment, files.flat()) };
  }
  if (image !== undefined) throw new NotCarried(`its files are in the image ${image}, which needs docker`);
  return { docker: undefined, contents: {} };
}

/** A folder gives what is in it, a file itself. */
async function filesOf({ sources, to, isInto }: Copy, environment: string, workdir: string): Promise<SourceFile[]> {
  const files: SourceFile[] = [];
  for (const source of sources.map((one) => posix.normalize(`./${one}`).replace(/\/$/, ''))) {
    const there = await stat(join(environment, source)).catch(() => undefined);
    if (there?.isDirectory()) {
      const inside = await filesIn(join(environment, source));
      files.push(...inside.map((path) => ({ path: posix.join(to, path), source: posix.join(source, path) })));
    } else {
      files.push({ path: isInto || to === workdir ? posix.join(to, posix.basename(source)) : to, source });
    }
  }
  return files.map(({ path, source }) => ({ path: fromWorkdir(path, workdir), source }));
}

function fromWorkdir(path: string, workdir: string): string {
  const inside = posix.relative(workdir, path);
  if (inside !== '' && !inside.startsWith('..')) return inside;
  throw new NotCarried(`COPY to ${path} needs docker: only ${workdir}, where the agent works, is there without it`);
}

function lostOf(docker: Dockerfile | undefined): LeftOut[] {
  if (docker === undefined) return [];
  const lost = (what: string, why: string) => ({ where: 'environment/Dockerfile', what, why });
  return [
    lost(`FROM ${docker.image}`, 'programs are those of the sandbox'),
    ...docker.unused.map((what) => lost(what, 'files belong to who runs it')),
    ...Object.keys(docker.env).map((name) => lost(`ENV ${name}`, 'the verifier has it, the agent has not')),
  ];
}

const ABOUT = 'it says nothing about what is done or scored';
const NO_NETWORK = 'verifiers have no network';
const ALONE = 'an agent reaches its model, and what sandbox: gives it';
const OWN_USER = 'everything runs as you, in the sandbox';

/** Why a setting is not used, by the beginning of its path. The first that fits counts. */
const WHY: readonly (readonly [beginning: string, why: string])[] = [
  ['task.', ABOUT],
  ['metadata.', ABOUT],
  ['verifier.user', OWN_USER],
  ['verifier.network_mode', NO_NETWORK],
  ['verifier.allowed_hosts', NO_NETWORK],
  ['verifier.collect', 'nothing is collected but the verdict'],
  ['agent.user', OWN_USER],
  ['agent.network_mode', ALONE],
  ['agent.allowed_hosts', ALONE],
  ['environment.allow_internet', ALONE],
  ['environment.network_mode', ALONE],
  ['environment.docker_image', 'programs are those of this machine, or of the container that sandbox: names'],
  ['environment.cpus', 'processors are not shared out'],
  ['environment.skills_dir', 'the skill that is trained is installed, and its neighbours: workspace.neighbours'],
  ['environment.env', 'the verifier has them, the agent has not'],
  ['environment.mcp_servers', 'agents get no servers of tools'],
  ['environment.healthcheck', 'there is no container to wait for'],
  ['environment.build_timeout_sec', 'nothing is built'],
];

type TaskSettings = ReturnType<typeof readTaskToml>;

/** What a `task.toml` says that is used here. Throws `NotCarried` for tasks that need more than one container with one agent. */
function readTaskToml(text: string) {
  const root = parseToml(text);
  if ('steps' in root) throw new NotCarried('it has several steps, each with a verifier of its own');
  const fields = fieldsOf(root);
  const at = (path: string) => fields.find(([one]) => one === path)?.[1];
  if (Number(at('environment.gpus') ?? 0) > 0) throw new NotCarried('it needs a graphics card');
  const used = {
    name: textIn(at('task.name')),
    taskType: textIn(at('metadata.category')),
    verifyMs: millisecondsIn(at('verifier.timeout_sec')),
    agentMs: millisecondsIn(at('agent.timeout_sec')),
    memoryMb: amountIn(at('environment.memory_mb')),
    diskMb: amountIn(at('environment.storage_mb')),
  };
  const { env, leftOut: lostEnv } = environmentOf(fields);
  const isUsed = (path: string) => Object.hasOwn(TAKEN, path) && used[TAKEN[path]!] !== undefined;
  const others = fields.filter(([path, value]) => {
    const isHarmless = path === 'verifier.network_mode' && value === 'no-network';
    return !isUsed(path) && !HARMLESS.includes(path) && !VARIABLE.test(path) && !isHarmless;
  });
  const leftOut = others.map(([path, value]): LeftOut => ({ where: path, what: path, why: whyNot(path, value) }));
  return { ...used, image: textIn(at('environment.docker_image')), env, leftOut: [...leftOut, ...lostEnv] };
}

function parseToml(text: string): Record<string, unknown> {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    throw new NotCarried(`task.toml:${error.line}: ${error.message.split('\n')[0]}`);
  }
}

const HARMLESS = ['schema_version', 'version', 'environment.gpus'];

/** The paths of what is used. */
const TAKEN: Readonly<Record<string, 'name' | 'taskType' | 'verifyMs' | 'agentMs' | 'memoryMb' | 'diskMb'>> = {
  'task.name': 'name',
  'metadata.category': 'taskType',
  'verifier.timeout_sec': 'verifyMs',
  'agent.timeout_sec': 'agentMs',
  'environment.memory_mb': 'memoryMb',
  'environment.storage_mb': 'diskMb',
};

type Field = readonly [path: string, value: unknown];

/** Every value with its path; a list is one value. The parser's tables may have no prototype. */
function fieldsOf(table: object, path = ''): Field[] {
  return Object.entries(table).flatMap(([key, value]): Field[] => {
    const isTable = isObject(value) && [null, Object.prototype].includes(Object.getPrototypeOf(value));
    return isTable ? fieldsOf(value, `${path}${key}.`) : [[`${path}${key}`, value]];
  });
}

const whyNot = (path: string, value: unknown) =>
  Object.hasOwn(TAKEN, path)
    ? `a value that cannot be used: ${JSON.stringify(value)}`
    : (WHY.find(([beginning]) => path.startsWith(beginning))?.[1] ?? 'nothing here does it');

const textIn = (value: unknown) => (typeof value === 'string' && value.trim() !== '' ? value : undefined);
const amountIn = (value: unknown) => (typeof value === 'number' && value > 0 ? value : undefined);

/** Of at most an hour. */
function millisecondsIn(seconds: unknown): number | undefined {
  const amount = amountIn(seconds);
  return amount === undefined || amount > 3_600 ? undefined : Math.ceil(amount * 1000);
}

const VARIABLE = /^(verifier|environment)\.env\.(.+)$/;

/** A value with a dollar sign and braces comes from the person who runs it, and is often a key: no verifier gets that. */
function environmentOf(fields: readonly Field[]) {
  const env: Record<string, string> = {};
  const leftOut: LeftOut[] = [];
  for (const [path, value] of fields) {
    const [, owner, name] = VARIABLE.exec(path) ?? [];
    if (name === undefined) continue;
    const isOfCaller = String(value).includes('${');
    if (!isOfCaller) env[name] = String(value);
    if (isOfCaller) leftOut.push({ where: path, what: path, why: 'nothing of your environment reaches a verifier' });
    else if (owner === 'environment')
      leftOut.push({ where: path, what: path, why: 'the verifier has it, the agent has not' });
  }
  return { env, leftOut };
}
