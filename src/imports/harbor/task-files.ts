import { posix } from 'node:path';
import { parse, TomlError } from 'smol-toml';
import { type LeftOut, NotCarried } from '../left-out.ts';

/** What a `task.toml` says that is done here. */
export type TaskSettings = {
  readonly name?: string;
  readonly taskType?: string;
  readonly verifyMs?: number;
  readonly agentMs?: number;
  readonly memoryMb?: number;
  readonly diskMb?: number;
  /** Variables of the verifier. */
  readonly env: Readonly<Record<string, string>>;
  readonly image?: string;
  readonly leftOut: readonly LeftOut[];
};

type Field = readonly [path: string, value: unknown];

const ABOUT = 'it says nothing about what is done or scored';
const NO_NETWORK = 'verifiers have no network';
const ALONE = 'an agent reaches its model, and what sandbox: gives it';
const OWN_USER = 'everything runs as you, in the sandbox';

/** Why what is not done is not, by the beginning of its path. The first that fits counts. */
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

/** Throws `NotCarried` for what is no TOML, and for tasks that need more than one container with one agent. */
export function readTaskToml(text: string): TaskSettings {
  const root = parseToml(text);
  if ('steps' in root) throw new NotCarried('it has several steps, each with a verifier of its own');
  const fields = fieldsOf(root);
  const at = (path: string) => fields.find(([one]) => one === path)?.[1];
  if (Number(at('environment.gpus') ?? 0) > 0) throw new NotCarried('it needs a graphics card');
  const { env, leftOut: lostEnv } = environmentOf(fields);
  const used = { ...readTexts(at), ...readAmounts(at) };
  const known = [...Object.keys(TAKEN).filter((path) => TAKEN[path]! in used), ...ABOUT_FILE, 'environment.gpus'];
  const others = fields.filter(([path]) => !known.includes(path) && !isVariable(path));
  const harmless = others.filter(([path, value]) => !(path === 'verifier.network_mode' && value === 'no-network'));
  const leftOut = harmless.map(([path, value]): LeftOut => ({ where: path, what: path, why: whyNot(path, value) }));
  return { ...used, env, leftOut: [...leftOut, ...lostEnv] };
}

function parseToml(text: string): Record<string, unknown> {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    throw new NotCarried(`task.toml:${error.line}: ${error.message.split('\n')[0]}`);
  }
}

const ABOUT_FILE = ['schema_version', 'version'];

/** Where what is used stands. */
const TAKEN: Readonly<Record<string, keyof TaskSettings>> = {
  'task.name': 'name',
  'metadata.category': 'taskType',
  'verifier.timeout_sec': 'verifyMs',
  'agent.timeout_sec': 'agentMs',
  'environment.memory_mb': 'memoryMb',
  'environment.storage_mb': 'diskMb',
};

/** Every value with its path; a list is one value. */
function fieldsOf(table: object, path = ''): Field[] {
  return Object.entries(table).flatMap(([key, value]): Field[] => {
    const isTable = typeof value === 'object' && value !== null && value.constructor === Object;
    return isTable || isPlain(value) ? fieldsOf(value, `${path}${key}.`) : [[`${path}${key}`, value]];
  });
}

/** The parser's tables have no prototype. */
const isPlain = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === null;

const whyNot = (path: string, value: unknown) =>
  TAKEN[path] !== undefined
    ? `a value that cannot be used: ${JSON.stringify(value)}`
    : (WHY.find(([beginning]) => path.startsWith(beginning))?.[1] ?? 'nothing here does it');

type At = (path: string) => unknown;

function readTexts(at: At): Pick<TaskSettings, 'name' | 'taskType' | 'image'> {
  const text = (key: 'name' | 'taskType' | 'image', value: unknown) =>
    typeof value === 'string' && value.trim() !== '' ? { [key]: value } : {};
  return {
    ...text('name', at('task.name')),
    ...text('taskType', at('metadata.category')),
    ...text('image', at('environment.docker_image')),
  };
}

const HOUR_MS = 3_600_000;

function readAmounts(at: At): Pick<TaskSettings, 'verifyMs' | 'agentMs' | 'memoryMb' | 'diskMb'> {
  const ms = (key: 'verifyMs' | 'agentMs', seconds: unknown) =>
    typeof seconds === 'number' && seconds > 0 && seconds * 1000 <= HOUR_MS ? { [key]: Math.ceil(seconds * 1000) } : {};
  const mb = (key: 'memoryMb' | 'diskMb', value: unknown) =>
    typeof value === 'number' && value > 0 ? { [key]: value } : {};
  return {
    ...ms('verifyMs', at('verifier.timeout_sec')),
    ...ms('agentMs', at('agent.timeout_sec')),
    ...mb('memoryMb', at('environment.memory_mb')),
    ...mb('diskMb', at('environment.storage_mb')),
  };
}

const VARIABLE = /^(verifier|environment)\.env\.(.+)$/;
const isVariable = (path: string) => VARIABLE.test(path);

/** A value in dollars and braces is of the person who runs it, and often a key: no verifier gets that. */
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

/** What a Dockerfile does that can be done without docker. */
export type Dockerfile = {
  readonly image: string;
  /** Where the agent works. */
  readonly workdir: string;
  readonly env: Readonly<Record<string, string>>;
  readonly copies: readonly Copy[];
  /** Settings without a meaning here. */
  readonly unused: readonly string[];
};

export type Copy = {
  /** From the folder of the Dockerfile. */
  readonly sources: readonly string[];
  /** Absolute. */
  readonly to: string;
  /** Whether `to` is a folder, whatever the sources are. */
  readonly isInto: boolean;
};

/** Where tasks work that do not say it. */
const USUAL = '/app';

/** Throws `NotCarried` for one that does more than copy files onto an image. */
export function readDockerfile(text: string): Dockerfile {
  let [image, workdir]: (string | undefined)[] = [];
  const env: Record<string, string> = {};
  const copies: Copy[] = [];
  const unused: string[] = [];
  for (const { line, number } of instructions(text)) {
    const [, word = '', rest = ''] = /^(\w+)\s+([\s\S]*)$/.exec(line) ?? [undefined, line];
    const name = word.toUpperCase();
    if (name === 'FROM' && image === undefined) image = rest.trim();
    else if (name === 'WORKDIR') workdir = posix.resolve(workdir ?? '/', plainWord(rest, number));
    else if (name === 'ENV') Object.assign(env, readEnv(rest, number));
    else if (name === 'COPY') copies.push(readCopy(rest, { workdir, number, unused }));
    else throw new NotCarried(`environment/Dockerfile:${number}: ${name} needs docker: ${ONLY}`);
  }
  if (image === undefined) throw new NotCarried('environment/Dockerfile has no FROM');
  return { image, workdir: workdir ?? USUAL, env, copies, unused };
}

const ONLY = 'without it only one FROM, and COPY, WORKDIR and ENV are carried';

/** Lines that end in a backslash go on in the next one, comments between them or not. */
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
  const pairs = [...rest.matchAll(/(\w+)=("(?:[^"\\]|\\.)*"|'[^']*'|\S*)/g)];
  if (pairs.length === 0) throw new NotCarried(`environment/Dockerfile:${number}: ENV without a value`);
  return Object.fromEntries(pairs.map(([, key, written]) => [key!, plainWord(written!, number)]));
}

type CopyPlace = { readonly workdir: string | undefined; readonly number: number; readonly unused: string[] };

function readCopy(rest: string, { workdir = '/', number, unused }: CopyPlace): Copy {
  const refuse = (why: string) => {
    throw new NotCarried(`environment/Dockerfile:${number}: ${why}`);
  };
  const flags = rest.match(/^(?:--\S+\s+)+/)?.[0] ?? '';
  if (/--from\b/.test(flags)) refuse('COPY from another image is not carried');
  unused.push(...flags.trim().split(/\s+/).filter(Boolean));
  const words = wordsOf(rest.slice(flags.length).trim()).map((word) => plainWord(word, number));
  if (words.length < 2) refuse('COPY needs a source and a place');
  if (words.some((word) => /^<<|[*?[]|^\w+:\/\//.test(word)))
    refuse('COPY of patterns, of texts in the file or from elsewhere is not carried');
  const to = words.at(-1)!;
  const isInto = words.length > 2 || /(?:^|\/)\.?$/.test(to);
  return { sources: words.slice(0, -1), to: posix.resolve(workdir, to), isInto };
}

/** Words with spaces between them, or a list in JSON. */
function wordsOf(text: string): string[] {
  if (!text.startsWith('[')) return text.split(/\s+/);
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list.map(String) : [];
  } catch {
    return [];
  }
}
