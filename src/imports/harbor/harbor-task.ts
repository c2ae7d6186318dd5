import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, join, posix } from 'node:path';
import { parse, TomlError } from 'smol-toml';
import { defined, isObject, parseJson, textOf } from '../../core/text/index.ts';
import {
  asTheyLie,
  type FileContents,
  filesIn,
  type ImportedWork,
  type LeftOut,
  NotCarried,
  readBelow,
  readContents,
  reasonOf,
  type SourceFile,
} from '../left-out.ts';

export const isHarborTask = (folder: string): boolean => existsSync(join(folder, 'task.toml'));

/** A folder with task.toml, instruction.md, environment/ and tests/. What is in solution/ is never read. */
export async function readHarborTask(folder: string): Promise<Pick<ImportedWork, 'rows' | 'leftOut'>> {
  const name = basename(folder);
  try {
    const settings = readTaskToml(await readBelow(folder, 'task.toml'));
    const files = { ...(await readEnvironment(folder, settings)), tests: await readTests(folder, settings) };
    const prompt = await readBelow(folder, 'instruction.md');
    const value = { id: settings.name ?? name, prompt, ...toTask(settings, files) };
    const leftOut = [...settings.leftOut, ...lostOf(files.docker)];
    return {
      rows: [{ value, where: join(folder, 'task.toml') }],
      leftOut: leftOut.map((one) => ({ ...one, where: `${name}: ${one.where}` })),
    };
  } catch (error) {
    return { rows: [], leftOut: [{ where: name, what: 'the task', why: reasonOf(error) }] };
  }
}

/** Where tasks work that do not say it. */
const USUAL_WORKDIR = '/app';

type TaskFiles = Awaited<ReturnType<typeof readEnvironment>> & { readonly tests: FileContents };

function toTask(settings: TaskSettings, { docker, contents, tests }: TaskFiles) {
  const { agentMs: timeoutMs, memoryMb, diskMb, verifyMs, taskType } = settings;
  const limits = defined({ timeoutMs, memoryMb, diskMb });
  const verify = {
    command: ['bash', '/tests/test.sh'],
    ...tests,
    at: '/tests',
    env: { ...docker?.env, ...settings.env },
    verdict: 'reward' as const,
    ...defined({ timeoutMs: verifyMs }),
  };
  const at = docker?.workdir ?? USUAL_WORKDIR;
  return { ...contents, at, verify, ...(Object.keys(limits).length === 0 ? {} : { limits }), ...defined({ taskType }) };
}

const DOWNLOADS = /^[^#\n]*?\b(apt-get|apk|dnf|curl|wget|uvx?|npx|pip3? install|npm (?:ci|i|install)|git clone)\b/m;

/** Tests that first fetch their programs would end in a zero that says nothing about the work, unless they name from where. */
async function readTests(folder: string, { hosts }: TaskSettings): Promise<FileContents> {
  const [, program] = DOWNLOADS.exec(await readBelow(folder, 'tests/test.sh')) ?? [];
  if (program !== undefined && hosts.length === 0)
    throw new NotCarried(`tests/test.sh downloads what it needs (${program}), and allowed_hosts names no host for it`);
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
async function filesOf(copy: Dockerfile['copies'][number], environment: string, workdir: string) {
  const { sources, to, isInto } = copy;
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
    ...docker.copies.flatMap(({ flags }) => flags).map((what) => lost(what, 'files belong to who runs it')),
    ...Object.keys(docker.env).map((name) => lost(`ENV ${name}`, 'the verifier has it, the agent has not')),
  ];
}

/** Why settings are not used, by the beginnings of their paths. */
const WHY: readonly (readonly [why: string, beginnings: string])[] = [
  ['it says nothing about what is done or scored', 'task. metadata.'],
  ['everything runs as you, in the sandbox', 'verifier.user agent.user'],
  ['verifiers reach the hosts that verifierHosts of the project names, and no other', 'verifier.network_mode'],
  [
    'an agent reaches its model, and what sandbox: gives it',
    'agent.network_mode agent.allowed_hosts environment.allow_internet environment.network_mode',
  ],
  ['nothing is collected but the verdict', 'verifier.collect'],
  ['programs are those of this machine, or of the container that sandbox: names', 'environment.docker_image'],
  ['processors are not shared out', 'environment.cpus'],
  ['the skill that is trained is installed, and its neighbours: workspace.neighbours', 'environment.skills_dir'],
  ['the verifier has them, the agent has not', 'environment.env'],
  ['agents get no servers of tools', 'environment.mcp_servers'],
  ['there is no container to wait for', 'environment.healthcheck'],
  ['nothing is built', 'environment.build_timeout_sec'],
];

type TaskSettings = ReturnType<typeof readTaskToml>;

/** What a `task.toml` says that is used here. Throws `NotCarried` for tasks that need more than one container with one agent. */
function readTaskToml(text: string) {
  const root = parseToml(text);
  if ('steps' in root) throw new NotCarried('it has several steps, each with a verifier of its own');
  const fields = fieldsOf(root);
  const at = (path: string) => fields.find(([one]) => one === path)?.[1];
  if (Number(at('environment.gpus') ?? 0) > 0) throw new NotCarried('it needs a graphics card');
  const isUsable = new Map<string, boolean>();
  const take = <Value>(path: string, read: (value: unknown) => Value | undefined) => {
    const value = read(at(path));
    isUsable.set(path, value !== undefined);
    return value;
  };
  const used = {
    name: take('task.name', textIn),
    taskType: take('metadata.category', textIn),
    verifyMs: take('verifier.timeout_sec', millisecondsIn),
    agentMs: take('agent.timeout_sec', millisecondsIn),
    memoryMb: take('environment.memory_mb', amountIn),
    diskMb: take('environment.storage_mb', amountIn),
  };
  const leftOut = fields.flatMap(([path, value]): LeftOut[] => {
    const isHarmless = HARMLESS.includes(path) || (path === 'verifier.network_mode' && value === 'no-network');
    if (isUsable.get(path) || isHarmless || VARIABLE.test(path)) return [];
    const why = isUsable.has(path) ? `a value that cannot be used: ${JSON.stringify(value)}` : whyNot(path, value);
    return [{ where: path, what: path, why }];
  });
  const { env, leftOut: lostEnv } = environmentOf(fields);
  const [image, hosts] = [textIn(at('environment.docker_image')), textsIn(at('verifier.allowed_hosts'))];
  return { ...used, hosts, image, env, leftOut: [...leftOut, ...lostEnv] };
}

function whyNot(path: string, value: unknown): string {
  // A task of somebody else opens no way into the network: the person who runs it does.
  if (path === 'verifier.allowed_hosts') return `in your project file: verifierHosts: [${textsIn(value).join(', ')}]`;
  const known = WHY.find(([, beginnings]) => beginnings.split(' ').some((one) => path.startsWith(one)));
  return known?.[0] ?? 'nothing here does it';
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

type Field = readonly [path: string, value: unknown];

/** Every value with its path; a list is one value. The parser's tables may have no prototype. */
function fieldsOf(table: object, path = ''): Field[] {
  return Object.entries(table).flatMap(([key, value]): Field[] => {
    const isTable = isObject(value) && [null, Object.prototype].includes(Object.getPrototypeOf(value));
    return isTable ? fieldsOf(value, `${path}${key}.`) : [[`${path}${key}`, value]];
  });
}

const textIn = (value: unknown) => (typeof value === 'string' && value.trim() !== '' ? value : undefined);
const textsIn = (value: unknown) => (Array.isArray(value) ? value.filter((one) => textIn(one) !== undefined) : []);
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
    const lose = (why: string) => leftOut.push({ where: path, what: path, why });
    if (textOf(value).includes('${')) {
      lose('nothing of your environment reaches a verifier');
      continue;
    }
    env[name] = textOf(value);
    if (owner === 'environment') lose('the verifier has it, the agent has not');
  }
  return { env, leftOut };
}

type Dockerfile = ReturnType<typeof readDockerfile>;

/** What a Dockerfile does that can be done without docker. Throws `NotCarried` for one that does more than copy files onto an image. */
function readDockerfile(text: string) {
  let [image, workdir]: (string | undefined)[] = [];
  const env: Record<string, string> = {};
  const copies: ReturnType<typeof readCopy>[] = [];
  for (const { line, number } of instructions(text)) {
    const [, word = '', rest = ''] = /^(\w+)\s+([\s\S]*)$/.exec(line) ?? [undefined, line];
    const name = word.toUpperCase();
    if (name === 'FROM' && image === undefined) image = rest.trim();
    else if (name === 'WORKDIR') workdir = posix.resolve(workdir ?? '/', plainWord(rest, number));
    else if (name === 'ENV') Object.assign(env, readEnv(rest, number));
    else if (name === 'COPY') copies.push(readCopy(rest, number, workdir));
    else throw new NotCarried(`environment/Dockerfile:${number}: ${name} needs docker: ${ONLY}`);
  }
  if (image === undefined) throw new NotCarried('environment/Dockerfile has no FROM');
  return { image, workdir: workdir ?? USUAL_WORKDIR, env, copies };
}

const ONLY = 'without it only one FROM, and COPY, WORKDIR and ENV are carried';

/** Lines that end in a backslash continue in the next one, also across comments. */
function* instructions(text: string): Generator<{ readonly line: string; readonly number: number }> {
  let [whole, first] = ['', 0];
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    if (/^\s*(?:#.*)?$/.test(raw)) continue;
    if (whole === '') first = index + 1;
    whole += raw.replace(/\\\s*$/, ' ');
    if (/\\\s*$/.test(raw)) continue;
    yield { line: whole.trim(), number: first };
    whole = '';
  }
  if (whole !== '') yield { line: whole.trim(), number: first };
}

function plainWord(written: string, number: number): string {
  const word = written.trim().replace(/^(["'])(.*)\1$/, '$2');
  if (/[$]/.test(word)) throw new NotCarried(`environment/Dockerfile:${number}: ${word} depends on a variable`);
  return word;
}

function readEnv(rest: string, number: number): Record<string, string> {
  const [, name, value] = /^(\w+)\s+([^=][\s\S]*)$/.exec(rest) ?? [];
  if (name !== undefined && value !== undefined) return { [name]: plainWord(value, number) };
  const pairs = [...rest.matchAll(/(?<!\w)(\w+)=("(?:[^"\\]|\\.)*"|'[^']*'|\S*)/g)];
  if (pairs.length === 0) throw new NotCarried(`environment/Dockerfile:${number}: ENV without a value`);
  return Object.fromEntries(pairs.map(([, key, written]) => [key!, plainWord(written!, number)]));
}

function readCopy(rest: string, number: number, workdir = '/') {
  const refuse = (why: string) => {
    throw new NotCarried(`environment/Dockerfile:${number}: ${why}`);
  };
  const flags = rest.match(/^(?:--\S+\s+)+/)?.[0] ?? '';
  if (/--from\b/.test(flags)) refuse('COPY from another image is not carried');
  const words = wordsOf(rest.slice(flags.length).trim()).map((word) => plainWord(word, number));
  if (words.length < 2) refuse('COPY needs a source and a place');
  if (words.some((word) => /^<<|[*?[]|^\w+:\/\//.test(word)))
    refuse('COPY of patterns, of texts in the file or from elsewhere is not carried');
  const to = words.at(-1)!;
  return {
    sources: words.slice(0, -1), // from the folder of the Dockerfile
    to: posix.resolve(workdir, to),
    isInto: words.length > 2 || /(?:^|\/)\.?$/.test(to), // whether it is a folder, whatever the sources are
    flags: flags.split(/\s+/).filter(Boolean), // they have no meaning here
  };
}

/** Words with spaces between them, or a list in JSON. */
function wordsOf(text: string): string[] {
  const words = text.startsWith('[') ? parseJson(text) : text.split(/\s+/);
  return Array.isArray(words) ? words.map(textOf) : [];
}
