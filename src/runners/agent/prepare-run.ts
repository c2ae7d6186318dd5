import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { agentClis, childEnvironment, type Environment, type Launch } from '../../agents/index.ts';
import type { AgentRunRequest, Mount, SandboxRequest } from '../../core/contracts/index.ts';
import { forwarderPath, type ModelGateway, throughForwarder } from '../../models/index.ts';
import type { Agent } from './agent.ts';
import type { AgentFolder } from './agent-folder.ts';
import { hidePaths } from './hide-paths.ts';
import { programFolders, programMounts } from './program-mounts.ts';
import { signInFiles } from './sign-in.ts';
import { installSkills, nameOf } from './skill-at-work.ts';

/** Names that things have for an agent whose sandbox can give names: the same in each rollout, so that prompts are. */
const INSIDE = { home: '/home/agent', workspace: '/workspace', sockets: '/run/skillopt', port: 8127 };

/** More than the events of any run. */
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

type Setting = { readonly folder: AgentFolder; readonly gateway: ModelGateway | undefined };

/** Where things are for the agent. */
type Places = { readonly home: string; readonly workspace: string; readonly hasNames: boolean };

export type PreparedRun = AsyncDisposable & { readonly command: Omit<SandboxRequest, 'timeoutMs'> };

/** Lays out the home with settings and skills, and says how the CLI is started in the sandbox. */
export async function prepareRun(agent: Agent, request: AgentRunRequest, setting: Setting): Promise<PreparedRun> {
  const { folder, gateway } = setting;
  const hasNames = agent.sandbox.hasOwnNames;
  const places: Places = hasNames
    ? { ...INSIDE, hasNames }
    : { home: folder.home, workspace: request.workspace.path, hasNames };
  const launch = agent.program.launch({
    ...places,
    prompt: request.prompt,
    model: agent.model,
    modelUrl: gateway && (gateway.url ?? `http://127.0.0.1:${INSIDE.port}`),
    isSandboxed: agent.sandbox.id !== 'none',
    limits: request.limits,
  });
  for (const [path, text] of Object.entries(launch.files ?? {})) await write(join(folder.home, path), text);
  const skills = await laySkills(agent, request, folder, places);
  const hidden = await hidePaths(agent.program.hidden ?? [], {
    view: request.workspace,
    inside: hasNames ? places.workspace : undefined,
    aside: folder.aside,
  });
  const isForwarded = gateway !== undefined && hasNames;
  const forwarded = throughForwarder({
    socket: `${INSIDE.sockets}/model.sock`,
    port: INSIDE.port,
    program: agent.located.path,
    args: launch.args,
  });
  const command: PreparedRun['command'] = {
    command: isForwarded ? [forwarded.program, ...forwarded.args] : [agent.located.path, ...launch.args],
    workspace: request.workspace,
    mounts: [
      { from: folder.home, to: places.home, isWritable: true },
      ...programMounts(agent.located),
      ...(gateway === undefined ? signInMounts(agent, places) : []),
      ...(isForwarded ? [{ from: folder.sockets, to: INSIDE.sockets, isWritable: true }, own(forwarderPath())] : []),
      ...skills.mounts,
      ...hidden.mounts,
    ],
    network: isForwarded ? 'none' : 'open',
    env: environmentFor(agent, launch, { ...places, tmp: hasNames ? '/tmp' : folder.tmp, gateway }),
    limits: request.limits,
    maxOutputBytes: MAX_OUTPUT_BYTES,
  };
  const end = async () => {
    await skills.remove();
    await hidden.restore();
  };
  return { command, [Symbol.asyncDispose]: end };
}

const own = (path: string): Mount => ({ from: path, to: path });

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

/** In the home; or in the workspace, where they are shown and not written if the sandbox can do that. */
async function laySkills({ program, scope }: Agent, request: AgentRunRequest, folder: AgentFolder, places: Places) {
  const nothing = { mounts: [] as Mount[], remove: async () => {} };
  if (scope === 'user') {
    await installSkills(join(folder.home, program.skillFolders.user), request.skills);
    return nothing;
  }
  const at = join(places.workspace, program.skillFolders.project);
  const names = request.skills.map(nameOf);
  if (places.hasNames) {
    await installSkills(folder.skills, request.skills);
    return { ...nothing, mounts: names.map((name) => ({ from: join(folder.skills, name), to: join(at, name) })) };
  }
  await installSkills(at, request.skills);
  const remove = async () => {
    await Promise.all(names.map((name) => rm(join(at, name), { recursive: true, force: true })));
  };
  return { ...nothing, remove };
}

/** The user's sign-in is shown where the CLI looks for it, and not copied: a renewed one must reach the user. */
function signInMounts({ program, env }: Agent, { home }: Places): Mount[] {
  const there = Object.entries(signInFiles({ program, env })).filter(([, from]) => existsSync(from)); // without one the CLI says what is missing
  return there.map(([path, from]) => ({ from, to: join(home, path), isWritable: true }));
}

type Surroundings = Places & { readonly tmp: string; readonly gateway: ModelGateway | undefined };

/** Behind a gateway no variable of the user gets in; with a sign-in those that belong to the CLI do. */
function environmentFor(agent: Agent, launch: Launch, { home, tmp, gateway }: Surroundings) {
  const { program, model, located, env } = agent;
  const cli = agentClis[program.cli];
  const theirs: Environment =
    gateway === undefined ? childEnvironment({ cli, model, program: located, inherited: env }) : {};
  const path = [...programFolders(located), '/usr/local/bin', '/usr/bin', '/bin', '/usr/sbin', '/sbin'].join(delimiter);
  const ours = { PATH: path, HOME: home, TMPDIR: tmp, LANG: 'C.UTF-8', TERM: 'dumb', NO_COLOR: '1', CI: '1' };
  const all = { ...theirs, ...ours, ...launch.env };
  return Object.fromEntries(
    Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
