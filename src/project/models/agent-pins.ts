import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import {
  type AgentCliName,
  agentClis,
  homeIn,
  type InstalledAgent,
  isExecutable,
  isForeign,
  type Located,
  locate,
  projectFolders,
  versionOf,
} from '../../agents/index.ts';
import { ModelCallError, SkillError } from '../../core/contracts/index.ts';
import { openStateFolder, readPrivate, stateFolderOf, writeSynced } from '../../stores/index.ts';
import type { Environment, Notices } from './provider.ts';

/** Shows that a program was replaced, without reading hundreds of megabytes. */
const FilePrint = z.object({ size: z.number(), mtimeMs: z.number(), ino: z.number() });
const Pin = z.object({
  path: z.string(),
  foundAt: z.string(),
  version: z.string().nullable(),
  print: FilePrint,
  pinnedAt: z.string(),
});
type AgentPin = z.infer<typeof Pin>;

const PinsFile = z.object({ format: z.literal('skillopt.agents.v1'), agents: z.record(z.string(), Pin) });
type AgentPins = Readonly<Partial<Record<AgentCliName, AgentPin>>>;

const pinsPath = (env: Environment) =>
  join(stateFolderOf({ env, home: homeIn(env), platform: process.platform }), 'agents.json');

/** The program of each agent CLI, as doctor found it or as it was used first. A file that cannot be read has none. */
export async function readPins(env: Environment): Promise<AgentPins> {
  try {
    return PinsFile.parse(JSON.parse((await readPrivate(pinsPath(env))) ?? '')).agents;
  } catch {
    return {};
  }
}

/** From now on these programs are run, whatever `PATH` says, and those of `gone` are searched again. */
export async function pinAgents(agents: readonly InstalledAgent[], env: Environment, gone: readonly string[] = []) {
  if (agents.length === 0 && gone.length === 0) return;
  const path = pinsPath(env);
  await openStateFolder(join(path, '..'));
  const fresh = Object.fromEntries(agents.map((agent) => [agent.cli, pinOf(agent)]));
  const kept = Object.entries(await readPins(env)).filter(([cli]) => !gone.includes(cli));
  const file = { format: 'skillopt.agents.v1', agents: { ...Object.fromEntries(kept), ...fresh } };
  const draft = `${path}.${randomUUID()}`; // several processes may write at once
  try {
    await writeSynced(draft, `${JSON.stringify(file, null, 1)}\n`, 0o600);
    await rename(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
}

function pinOf({ path, foundAt, version }: InstalledAgent): AgentPin {
  return { path, foundAt, version: version ?? null, print: printOf(path), pinnedAt: new Date().toISOString() };
}

function printOf(path: string): AgentPin['print'] {
  const { size, mtimeMs, ino } = statSync(path);
  return { size, mtimeMs, ino };
}

const isSameFile = ({ path, print }: AgentPin) =>
  Object.entries(printOf(path)).every(([key, value]) => print[key as keyof AgentPin['print']] === value);

type ProgramRequest = {
  readonly cli: AgentCliName;
  readonly env: Environment;
  readonly project: string;
  /** Without them nothing is pinned: a person must be notified of a pin. */
  readonly notices?: Notices | undefined;
};

/**
 * The program that is pinned for a CLI, or else the program on `PATH`, which is then pinned. A pinned program that is gone is
 * an error. A changed one gives a warning: CLIs update themselves.
 */
export async function pinnedProgram(request: ProgramRequest): Promise<Located> {
  const { cli, env, project, notices } = request;
  const pin = (await readPins(env))[cli];
  if (pin === undefined) {
    const found = locate({ cli, inherited: env, project });
    if (notices) await pinFirst(found, request, notices);
    return found;
  }
  if (!isExecutable(pin.path)) throw unusablePin(cli, pin, 'does not exist any more');
  if (isForeign(pin.path, projectFolders(project, homeIn(env)))) throw unusablePin(cli, pin, 'lies inside the project');
  if (notices && !isSameFile(pin)) await pinAgain(pin, request, notices);
  return pin;
}

/** The program at a path in the project file. It needs no pin. */
export function namedProgram(written: string, { cli, env, project }: ProgramRequest): Located {
  const path = resolve(project, written);
  const found = locate({ cli, path, inherited: env, project });
  if (!isForeign(path, projectFolders(project, homeIn(env)))) return found;
  throw new SkillError('CONFIG_INVALID', `${cli} is not run from ${path}, which lies inside the project`, {
    hint: `An agent that works there could change it. Install it outside the project: ${agentClis[cli].installCommand}`,
  });
}

async function pinFirst(found: Located, { cli, env }: ProgramRequest, notices: Notices): Promise<void> {
  const agent = await versioned({ cli, ...found }, env);
  const program = `${cli} is ${agent.path} (${agent.version ?? 'version unknown'})`;
  const problem = await tryToPin(agent, env);
  if (problem === undefined)
    notices.note(`${program} from now on, whatever PATH says; skillopt doctor looks for it again`);
  else notices.warn(`${program}, but only this time: ${problem}`);
}

async function pinAgain(pin: AgentPin, { cli, env }: ProgramRequest, notices: Notices): Promise<void> {
  const { path, foundAt, version } = pin;
  const agent = await versioned({ cli, path, foundAt }, env);
  const versions = `${version ?? 'version unknown'}, now ${agent.version ?? 'version unknown'}`;
  notices.warn(`${cli} has changed since it was pinned: ${path} was ${versions}`);
  await tryToPin(agent, env);
}

const versioned = async (agent: Omit<InstalledAgent, 'version'>, env: Environment): Promise<InstalledAgent> => ({
  ...agent,
  version: await versionOf(agent, env),
});

/** Why it cannot be pinned, or `undefined`. A run does not fail for it. */
async function tryToPin(agent: InstalledAgent, env: Environment): Promise<string | undefined> {
  try {
    await pinAgents([agent], env);
    return undefined;
  } catch (error) {
    if (!(error instanceof SkillError)) throw error;
    return error.message;
  }
}

function unusablePin(cli: AgentCliName, { path, version }: AgentPin, what: string): ModelCallError {
  const message = `${cli} cannot be run: ${path} (${version ?? 'version unknown'}), which is pinned for it, ${what}`;
  const hint = `Run skillopt doctor: it looks for ${agentClis[cli].binary} on PATH and pins what it finds. No other program is used without that.`;
  return new ModelCallError(message, { isRetryable: false, isFatal: true, hint });
}
