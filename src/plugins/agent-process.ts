import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { agentPrograms, childEnvironment, type Located, locate, requireProgram } from '../agents/index.ts';
import { SkillError } from '../core/contracts/index.ts';
import { maskKeysIn } from '../core/guard/index.ts';
import { clip, oneLine, withoutEscapes } from '../core/text/index.ts';
import { type PluginAgent, pluginHosts } from './hosts.ts';
import type { PluginsPlace } from './receipt.ts';

/** The agent's program, by its absolute path, outside of every project. Throws if it is not there. */
function locateAgent(agent: PluginAgent, { env, cwd }: PluginsPlace): Located {
  const { cli, title } = agentPrograms[agent];
  return locate({ cli, inherited: env, project: cwd, words: { agent: title, path: 'the path' } });
}

/** The same, when it has said that it is this agent. */
export async function requireAgent(agent: PluginAgent, place: PluginsPlace): Promise<Located> {
  const program = locateAgent(agent, place);
  await requireProgram({ ...program, cli: agentPrograms[agent].cli }, place.env);
  return program;
}

export type AgentAtHand = {
  readonly agent: PluginAgent;
  readonly program: Located;
  readonly place: PluginsPlace;
  readonly pluginsFolder: string;
  /** Ends the verb that is under way, and throws its reason. */
  readonly signal?: AbortSignal | undefined;
};

type Ran = { readonly isGood: boolean; readonly printed: string; readonly words: string };

const VERB_TIMEOUT_MS = 120_000;

/** Variables and folder of what we start: nothing of a project is in either. */
function surroundings({ agent, program, place, pluginsFolder }: AgentAtHand) {
  const env = childEnvironment({ cli: agentPrograms[agent], program, inherited: place.env });
  const quiet = { NO_COLOR: '1', CI: '1', DISABLE_AUTOUPDATER: '1', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' };
  return { cwd: join(pluginsFolder, 'empty'), env: { ...env, ...quiet, ...pluginHosts[agent].env } };
}

/** Runs the agent's own program with a verb, to its end. It can ask nobody. */
export async function runVerb(at: AgentAtHand, verb: readonly string[]): Promise<Ran> {
  at.signal?.throwIfAborted();
  const { execa } = await import('execa');
  const { path, foundAt } = at.program;
  const { failed, stdout, stderr, shortMessage } = await execa(path, verb, {
    ...surroundings(at),
    ...{
      extendEnv: false,
      reject: false,
      stdin: 'ignore',
      argv0: foundAt,
      timeout: VERB_TIMEOUT_MS,
      windowsHide: true,
      ...(at.signal && { cancelSignal: at.signal }),
    },
  });
  at.signal?.throwIfAborted();
  const said = `${stderr}\n${stdout}`.trim() || (shortMessage ?? '');
  return {
    isGood: !failed,
    printed: withoutEscapes(`${stdout}\n${stderr}`), // some list on stderr

    words: maskKeysIn(clip(oneLine(withoutEscapes(said)), 300)),
  };
}

/** Runs verbs in order, and throws at the first that fails. */
export async function runVerbs(at: AgentAtHand, verbs: readonly (readonly string[])[]): Promise<void> {
  for (const verb of verbs) {
    const { isGood, words } = await runVerb(at, verb);
    if (!isGood) throw agentFailed(at.agent, `"${agentPrograms[at.agent].binary} ${verb.join(' ')}" failed: ${words}`);
  }
}

export function agentFailed(agent: PluginAgent, what: string): SkillError {
  const { title } = agentPrograms[agent];
  return new SkillError('PLUGIN_FAILED', `${title} did not do what was asked: ${what}`, {
    hint: `What "skillopt plugin install ${agent} --dry-run" shows can be typed by hand. Look there what ${title} says.`,
  });
}

/** The version of our plugin that the agent lists; undefined if none. */
export async function listedVersion(at: AgentAtHand): Promise<string | undefined> {
  const { list, installedIn } = pluginHosts[at.agent];
  const { isGood, printed, words } = await runVerb(at, list[0]!);
  if (!isGood) throw agentFailed(at.agent, `it could not list its plugins: ${words}`);
  return installedIn(printed);
}

export type Hello = { readonly version: string } | { readonly problem: string };

const HELLO_TIMEOUT_MS = 20_000;

/** What the server behind a launcher answers to `initialize`. */
export async function sayHello(at: AgentAtHand, launcher: string): Promise<Hello> {
  const child = spawn(launcher, [], { ...surroundings(at), stdio: ['pipe', 'pipe', 'pipe'], windowsHide: true });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
  child.stdin.on('error', () => {}); // it may have ended already
  const timer = setTimeout(() => child.kill('SIGKILL'), HELLO_TIMEOUT_MS);
  try {
    const answer = firstLine(child);
    child.stdin.write(`${JSON.stringify(INITIALIZE)}\n`);
    const line = await answer;
    const { version } = line === undefined ? {} : JSON.parse(line).result.serverInfo;
    if (version !== undefined) return { version: String(version) };
    return { problem: maskKeysIn(clip(oneLine(stderr.trim() || 'it ended without an answer'), 300)) };
  } catch (error) {
    return { problem: (error as Error).message };
  } finally {
    clearTimeout(timer);
    child.kill('SIGKILL');
  }
}

const INITIALIZE = {
  ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
  params: {
    ...{ protocolVersion: '2025-06-18', capabilities: {} },
    clientInfo: { name: 'skillopt plugin doctor', version: '1' },
  },
};

/** Undefined when it ends without one. */
function firstLine(child: ReturnType<typeof spawn>): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', () => resolve(undefined));
    createInterface({ input: child.stdout! }).once('line', resolve);
  });
}
