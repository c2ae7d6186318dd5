import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import {
  type AgentRunner,
  type AgentStep,
  isPlainPath,
  type Sandbox,
  SkillError,
  type SkillPackage,
} from '../core/contracts/index.ts';
import {
  filesBehind,
  keepLineEnds,
  type PackageFiles,
  partOf,
  SKILL_FILE,
  type Trained,
  trainedFiles,
  trainsPackage,
} from '../core/document/index.ts';
import { oneLine, skillHash } from '../core/text/index.ts';
import { skillHeader } from '../skills/index.ts';
import { layFiles } from '../workspaces/index.ts';

/** The package that an agent gets: the trained files of `text`, and the other files of the folder, if there is one. */
export function installedPackage(base: SkillPackage | undefined, text: string, trained: Trained): SkillPackage {
  const own = base?.files ?? {};
  // Line ends as in the folder, except for SKILL.md, which agents read as text.
  const fresh = Object.entries(filesBehind(text, trained)).map(([path, content]) => {
    const old = path === SKILL_FILE ? undefined : own[path];
    return [path, old === undefined ? content : keepLineEnds(content, old)];
  });
  return { ...base, files: { ...untrainedFiles(own, trained), ...Object.fromEntries(fresh) } };
}

function untrainedFiles(files: PackageFiles, trained: Trained): PackageFiles {
  const gone = { [SKILL_FILE]: '', ...(trainsPackage(trained) ? trainedFiles(files, trained) : {}) };
  return Object.fromEntries(Object.entries(files).filter(([path]) => !Object.hasOwn(gone, path)));
}

/** Files of a skill, besides SKILL.md, that a call of a tool names. */
export function filesUsed({ files }: SkillPackage, steps: readonly AgentStep[]): string[] {
  const inputs = steps.flatMap((step) => (step.type === 'tool-call' ? [JSON.stringify(step.input ?? '')] : []));
  return Object.keys(files).filter((path) => path !== SKILL_FILE && inputs.some((input) => input.includes(path)));
}

/** Installs skills in a folder that an agent looks into, each in a folder of its name. */
export async function installSkills(folder: string, skills: readonly SkillPackage[]): Promise<void> {
  for (const skill of skills) {
    const files = { ...skill.files, ...skill.binaries };
    const odd = Object.keys(files).find((path) => !isPlainPath(path));
    if (odd !== undefined) throw new SkillError('TASKS_INVALID', `${odd} is no path in a skill`);
    const own = join(folder, nameOf(skill));
    await mkdir(own, { recursive: true });
    await layFiles({ folder: own }, files);
  }
}

/** Neighbours are the same objects in every attempt: their frontmatter is parsed once. */
const names = new WeakMap<SkillPackage, string>();

/** The name in its frontmatter. */
export function nameOf(skill: SkillPackage): string {
  const name = names.get(skill) ?? skillHeader(skill.files[SKILL_FILE] ?? '').name;
  if (name !== undefined && isPlainPath(name) && !name.includes('/')) {
    names.set(skill, name);
    return name;
  }
  const problem = `a skill needs a name in its frontmatter that a folder can have, got ${JSON.stringify(name ?? null)}`;
  throw new SkillError('SKILL_NOT_FOUND', problem, {
    hint: 'Begin SKILL.md with a block between two lines of --- that holds name (lowercase letters, digits and hyphens, at most 64, such as pdf-forms) and description.',
  });
}

/** A skill among others. Another one of the same name is left out: it would be in the same folder. */
export const amongNeighbours = (skill: SkillPackage, neighbours: readonly SkillPackage[] = []): SkillPackage[] => [
  skill,
  ...neighbours.filter((other) => nameOf(other) !== nameOf(skill)),
];

export function requireAgent(agent: AgentRunner | undefined): AgentRunner {
  if (agent !== undefined) return agent;
  throw new SkillError('CONFIG_INVALID', 'these tasks are for an agent, and the target is none', {
    hint: 'Write target: { agent: claude }, or another agent that is installed: skillopt doctor lists them.',
  });
}

type Surroundings = {
  readonly package?: SkillPackage | undefined;
  readonly neighbours?: readonly SkillPackage[] | undefined;
  /** What an attempt may use up, with the defaults. */
  readonly limits: object;
};

/** What attempts depend on besides the task, the agent and the trained text: in words, so that a mismatch says which it was. */
export function contentVersion({ package: own, neighbours = [], limits }: Surroundings, trained: Trained): string {
  const beside = own && digestOf({ ...own, files: untrainedFiles(own.files, trained) });
  return [
    ...(beside === undefined ? [] : [`files beside the skill ${beside}`]),
    ...(neighbours.length === 0 ? [] : [`neighbours ${skillHash(neighbours.map(digestOf).sort().join())}`]),
    `limits ${JSON.stringify(Object.fromEntries(Object.entries(limits).sort()))}`,
  ].join(', ');
}

function digestOf({ files, binaries = {} }: SkillPackage): string {
  const hash = createHash('sha256');
  for (const [path, content] of Object.entries({ ...files, ...binaries }).sort(([a], [b]) => (a < b ? -1 : 1))) {
    hash.update(JSON.stringify([path, content.length])).update(content);
  }
  return hash.digest('hex').slice(0, 16);
}

const PARSE_PYTHON = 'import ast, sys; ast.parse(open(sys.argv[1], encoding="utf-8").read(), sys.argv[1])';

/** Scripts by the end of their name or by their first line: how each is parsed without being run, and how it is run. */
const LANGUAGES = [
  { ending: /\.bash$/i, firstLine: /^#!.*\bbash\b/, parse: ['bash', '-n'], run: ['bash'] },
  { ending: /\.sh$/i, firstLine: /^#!.*\b(?:sh|dash)\b/, parse: ['sh', '-n'], run: ['sh'] },
  { ending: /\.py$/i, firstLine: /^#!.*\bpython/, parse: ['python3', '-c', PARSE_PYTHON], run: ['python3'] },
  { ending: /\.[cm]?js$/i, firstLine: /^#!.*\bnode\b/, parse: ['node', '--check'], run: ['node'] },
];

/** A first line that names the interpreter counts more than the file's name. */
const languageOf = (path: string, text: string) =>
  LANGUAGES.find(({ firstLine }) => firstLine.test(text)) ?? LANGUAGES.find(({ ending }) => ending.test(path));

type PackageChange = { readonly candidate: PackageFiles; readonly parent: PackageFiles; readonly sandbox: Sandbox };

/** The first fault in a file of the candidate that the parent does not have, or has without a fault. */
export async function checkPackage({ candidate, parent, sandbox }: PackageChange): Promise<string | undefined> {
  const changed = Object.keys(candidate).filter((path) => candidate[path] !== parent[path]);
  for (const path of changed) {
    const fault = await faultIn(path, candidate, sandbox);
    if (fault === undefined) continue;
    const isOld = parent[path] !== undefined && (await faultIn(path, parent, sandbox)) !== undefined;
    if (!isOld) return fault;
  }
  return undefined;
}

async function faultIn(path: string, files: PackageFiles, sandbox: Sandbox): Promise<string | undefined> {
  const text = files[path]!;
  if (/\.json$/i.test(path)) return readFault(path, 'JSON', () => JSON.parse(text));
  if (/\.ya?ml$/i.test(path)) return readFault(path, 'YAML', () => requireYaml(text));
  const language = partOf(path) === 'scripts' ? languageOf(path, text) : undefined;
  if (!language) return undefined;
  const run = (words: readonly string[]) => runIfInstalled(words, files, sandbox);
  const unread = await run([...language.parse, path]);
  if (unread !== undefined) return `${path} does not parse: ${unread}`;
  const failed = text.includes('--self-check') ? await run([...language.run, path, '--self-check']) : undefined;
  return failed === undefined ? undefined : `${path} fails its own check: ${failed}`;
}

function readFault(path: string, format: string, read: () => unknown): string | undefined {
  try {
    read();
    return undefined;
  } catch (error) {
    return `${path} is not ${format}: ${oneLine((error as Error).message).slice(0, 200)}`;
  }
}

function requireYaml(text: string): void {
  for (const { errors } of parseAllDocuments(text, { logLevel: 'error' })) if (errors[0]) throw errors[0];
}

const CHECK_MS = 30_000;
const IF_INSTALLED = 'command -v "$1" >/dev/null 2>&1 || exit 0; exec "$@"';

/** The complaint of a command, if there is one. The command sees the package, and no network. */
async function runIfInstalled(words: readonly string[], files: PackageFiles, sandbox: Sandbox) {
  const command = ['/bin/sh', '-c', IF_INSTALLED, 'sh', ...words];
  const { exitCode, timedOut, stderr, stdout } = await sandbox.run({ command, files, env: {}, timeoutMs: CHECK_MS });
  if (exitCode === 0) return undefined;
  const said = oneLine(stderr.trim() || stdout.trim()).slice(-300);
  return timedOut ? `it did not end within ${CHECK_MS / 1000} s` : said || `it ended with ${exitCode ?? 'a signal'}`;
}
