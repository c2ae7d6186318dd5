import { basename } from 'node:path';
import { SkillError } from '../core/contracts/index.ts';
import type { Environment, Located } from './agent-cli.ts';
import { type AgentCliName, agentClis } from './agent-clis.ts';
import { openCallFolder } from './call-folder.ts';
import { childEnvironment } from './child-environment.ts';
import { findBinary, homeIn, projectFolders, realPath } from './require-installed.ts';
import { runProcess } from './run-process.ts';

export type InstalledAgent = {
  readonly cli: AgentCliName;
  /** Absolute and without links. */
  readonly path: string;
  /** Where it was found on `PATH`. */
  readonly foundAt: string;
  /** Undefined when the program does not say. */
  readonly version: string | undefined;
};

/** The agent CLIs on `PATH`, but not in `project`, with their versions, in the order of the table. Asks no model. */
export async function detectAgents(
  env: Environment = process.env,
  project = process.cwd(),
): Promise<readonly InstalledAgent[]> {
  const found = findAgents(env, project);
  return Promise.all(found.map(async (agent) => ({ ...agent, version: await versionOf(agent, env) })));
}

/** The same, without running anything. */
export function findAgents(env: Environment, project: string): readonly Omit<InstalledAgent, 'version'>[] {
  const projects = projectFolders(project, homeIn(env));
  return Object.values(agentClis).flatMap(({ cli, binary }) => {
    const foundAt = findBinary(binary, env, projects);
    return foundAt === undefined ? [] : [{ cli, path: realPath(foundAt), foundAt }];
  });
}

type CliAt = Located & { readonly cli: AgentCliName };

/** The version that a CLI prints. */
export async function versionOf(program: CliAt, inherited: Environment): Promise<string | undefined> {
  return versionIn((await printedVersion(program, inherited)) ?? '');
}

const versionIn = (printed: string): string | undefined => /\d{1,9}\.\d{1,9}\.\d{1,9}(?:[\w.-]*\w)?/.exec(printed)?.[0];

/** Undefined when the CLI cannot be run. It is run like any call: in an empty folder, with the variables that it needs. */
async function printedVersion({ cli, ...program }: CliAt, inherited: Environment): Promise<string | undefined> {
  await using folder = await openCallFolder();
  const env = { ...childEnvironment({ cli: agentClis[cli], program, inherited }), NO_COLOR: '1', CI: '1' };
  const started = { file: program.path, name: program.foundAt, args: ['--version'], input: '', cwd: folder.work, env };
  const printed = await runProcess({ ...started, signal: AbortSignal.timeout(20_000) }).catch(() => undefined);
  return printed && `${printed.stdout}\n${printed.stderr}`;
}

/**
 * The version of an agent's program; `unknown` where it cannot be run. Throws for a program that is not the agent's: it would
 * be started with the arguments of another agent and misunderstand them.
 */
export async function requireProgram(program: CliAt, env: Environment): Promise<string> {
  const printed = await printedVersion(program, env);
  const other = otherAgent(program, printed ?? '');
  if (other !== undefined) throw otherProgram(program, `it is the program of ${agentClis[other].name}`);
  if (printed === undefined) return 'unknown';
  const version = looksOwn(printed, program.cli) ? versionIn(printed) : undefined;
  if (version === undefined) throw otherProgram(program, `asked for its version, it printed ${firstLine(printed)}`);
  return version;
}

const names = (text: string, cli: AgentCliName) => new RegExp(`\\b${agentClis[cli].name}\\b`, 'i').test(text);

/** Another agent that prints its name beside its version, or whose file or package it is: some print only a number. */
function otherAgent({ path, foundAt, cli: own }: CliAt, printed: string): AgentCliName | undefined {
  const others = Object.values(agentClis).flatMap(({ cli }) => (cli === own ? [] : [cli]));
  const isNamed = (cli: AgentCliName) => names(printed, cli);
  const isAt = (cli: AgentCliName) => {
    const { binary, installCommand } = agentClis[cli];
    const inPackage = path.replaceAll('\\', '/').includes(`/node_modules/${installCommand.split(' ').at(-1)}/`);
    return inPackage || [path, foundAt].some((file) => basename(file) === binary);
  };
  const named = isNamed(own) ? undefined : others.find(isNamed);
  return named ?? (isAt(own) ? undefined : others.find(isAt));
}

/** A version by itself, or behind the agent's own name. `Python 3.12.1` is none. */
const looksOwn = (printed: string, cli: AgentCliName) =>
  printed.split('\n').some((line) => {
    const version = versionIn(line);
    if (version === undefined) return false;
    const before = line.slice(0, line.indexOf(version)).trim();
    return before === '' || before === 'v' || names(before, cli);
  });

function firstLine(printed: string): string {
  const line = printed.trim().split('\n')[0]!;
  return line === '' ? 'nothing' : JSON.stringify(line.slice(0, 80));
}

function otherProgram({ cli, foundAt }: CliAt, came: string): SkillError {
  const { name, binary, installCommand } = agentClis[cli];
  return new SkillError('CONFIG_INVALID', `expected the program of ${name} at ${foundAt}, but ${came}`, {
    hint: `Name the path of ${binary}, or none: it is then looked for on PATH. To install it: ${installCommand}`,
  });
}
