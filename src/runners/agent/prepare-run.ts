import { existsSync } from 'node:fs';
import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join, sep } from 'node:path';
import { childEnvironment, type Environment, type Launch } from '../../agents/index.ts';
import type { AgentRunRequest, Mount, SandboxRequest, WorkspaceView } from '../../core/contracts/index.ts';
import { defined } from '../../core/text/index.ts';
import { forwarderPath, type ModelGateway, throughForwarder } from '../../models/index.ts';
import { layFiles, openRolloutFolder } from '../../workspaces/index.ts';
import { installSkills, nameOf } from '../installed-skill.ts';
import { type Agent, signInFiles } from './open-agent.ts';

type AgentFolder = Awaited<ReturnType<typeof openAgentFolder>>;

/** What one run of an agent has on disk besides its workspace. Disposing removes it. */
export async function openAgentFolder() {
  const folder = await openRolloutFolder();
  const below = (name: string) => join(folder.path, name);
  await Promise.all(['home', 'tmp', 's', 'skills', 'aside'].map((name) => mkdir(below(name), { mode: 0o700 })));
  return {
    home: below('home'),
    tmp: below('tmp'), // not above the home: some agents refuse to work with a home among temporary files
    socket: below('s/model.sock'), // short: a path to a socket has at most a hundred characters
    skills: below('skills'), // those that are shown in the workspace
    aside: below('aside'), // what is hidden from the agent
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

/** Paths for an agent whose sandbox can give names: the same in each rollout, so that prompts are the same. */
const INSIDE = { home: '/home/agent', workspace: '/workspace', tmp: '/tmp', sockets: '/run/skillopt', port: 8127 };

/** More than the events of any run. */
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

type RunParts = { readonly folder: AgentFolder; readonly gateway: ModelGateway | undefined };

/** Paths as the agent sees them. */
type AgentPaths = { readonly home: string; readonly workspace: string; readonly tmp: string };

/** A change of the workspace for the time of the run: what the sandbox has to show, and how the rest is undone. */
type Shown = { readonly mounts: readonly Mount[]; readonly undo?: () => Promise<void> };

type PreparedRun = AsyncDisposable & { readonly command: Omit<SandboxRequest, 'timeoutMs'> };

/** Lays out the home with settings and skills, and says how the CLI is started in the sandbox. */
export async function prepareRun(agent: Agent, request: AgentRunRequest, parts: RunParts): Promise<PreparedRun> {
  const { folder, gateway } = parts;
  const paths = agent.sandbox.hasOwnNames ? INSIDE : { ...folder, workspace: request.workspace.path };
  const launch = agent.cli.launch({
    home: paths.home,
    workspace: paths.workspace,
    prompt: request.prompt,
    model: agent.model,
    modelUrl: gateway && (gateway.url ?? `http://127.0.0.1:${INSIDE.port}`),
    isSandboxed: agent.sandbox.id !== 'none',
    limits: request.limits,
  });
  await layFiles({ folder: folder.home }, launch.files ?? {});
  const changes = [
    await showSkills(agent, request, folder, paths),
    await hidePaths(agent, request.workspace, folder.aside),
  ];
  const { program, mounts, network } = startOf(agent, launch, parts);
  return {
    command: {
      command: program,
      workspace: request.workspace,
      mounts: [
        { from: folder.home, to: paths.home, isWritable: true },
        ...programMounts(agent),
        ...(gateway === undefined ? signInMounts(agent, paths) : []),
        ...mounts,
        ...changes.flatMap((change) => change.mounts),
      ],
      network,
      env: environmentFor(agent, launch, { ...paths, hasGateway: gateway !== undefined }),
      limits: request.limits,
      maxOutputBytes: MAX_OUTPUT_BYTES,
    },
    [Symbol.asyncDispose]: async () => {
      for (const { undo } of changes) await undo?.();
    },
  };
}

/** The program and its arguments. Without a network it reaches the gateway through a forwarder that runs beside it. */
function startOf({ located, sandbox }: Agent, { args }: Launch, { folder, gateway }: RunParts) {
  if (gateway === undefined || !sandbox.hasOwnNames)
    return { program: [located.path, ...args], mounts: [], network: 'open' } as const;
  const socket = `${INSIDE.sockets}/model.sock`;
  const forwarded = throughForwarder({ socket, port: INSIDE.port, program: located.path, args });
  const mounts = [
    { from: dirname(folder.socket), to: INSIDE.sockets, isWritable: true },
    { from: forwarderPath(), to: forwarderPath() },
  ];
  return { program: [forwarded.program, ...forwarded.args], mounts, network: 'none' } as const;
}

/** In the home; or in the workspace, where they are only shown, and not written, if the sandbox can do that. */
async function showSkills(
  { cli: { skillFolders }, scope, sandbox }: Agent,
  { skills }: AgentRunRequest,
  folder: AgentFolder,
  { workspace }: AgentPaths,
): Promise<Shown> {
  if (scope === 'user') {
    await installSkills(join(folder.home, skillFolders.user), skills);
    return { mounts: [] };
  }
  const at = join(workspace, skillFolders.project);
  const names = skills.map(nameOf);
  if (sandbox.hasOwnNames) {
    await installSkills(folder.skills, skills);
    return { mounts: names.map((name) => ({ from: join(folder.skills, name), to: join(at, name) })) };
  }
  await installSkills(at, skills);
  const undo = async () => {
    await Promise.all(names.map((name) => rm(join(at, name), { recursive: true, force: true })));
  };
  return { mounts: [], undo };
}

/** Hides the paths by which a repository makes the CLI run programs: an empty file or folder stands in, or they are moved away. */
async function hidePaths({ cli, sandbox }: Agent, view: WorkspaceView, aside: string): Promise<Shown> {
  const found = await existingIn(view.overlay?.lower ?? view.path, cli.hidden ?? []);
  if (found.length === 0) return { mounts: [] };
  if (!sandbox.hasOwnNames) return { mounts: [], undo: await moveAside(found, view.path, aside) };
  const empty = { folder: join(aside, 'folder'), file: join(aside, 'file'), json: join(aside, 'file.json') };
  await mkdir(empty.folder, { recursive: true });
  await writeFile(empty.file, '');
  await writeFile(empty.json, '{}\n'); // settings that say nothing
  const standIn = ({ path, isFolder }: ExistingPath) =>
    isFolder ? empty.folder : path.endsWith('.json') ? empty.json : empty.file;
  return { mounts: found.map((one) => ({ from: standIn(one), to: join(INSIDE.workspace, one.path) })) };
}

type ExistingPath = { readonly path: string; readonly isFolder: boolean };

async function existingIn(folder: string, paths: readonly string[]): Promise<ExistingPath[]> {
  const found = await Promise.all(
    paths.map(async (path) => ({ path, stats: await stat(join(folder, path)).catch(() => undefined) })),
  );
  return found.flatMap(({ path, stats }) => (stats ? [{ path, isFolder: stats.isDirectory() }] : []));
}

/** Returns what moves them back. A file that the agent wrote in the meantime is its work, and stays. */
async function moveAside(found: readonly ExistingPath[], workspace: string, aside: string) {
  const move = async (from: string, to: string) => {
    await mkdir(dirname(to), { recursive: true });
    await rename(from, to);
  };
  for (const { path } of found) await move(join(workspace, path), join(aside, path));
  return async () => {
    for (const { path } of found)
      if (!existsSync(join(workspace, path))) await move(join(aside, path), join(workspace, path));
  };
}

/** Folders that every command sees. */
const SYSTEM = ['/usr/', '/bin/', '/sbin/', '/lib/', '/lib64/', '/opt/', '/nix/store/'];

/**
 * The CLI's program and Node, at their own paths, since programs look for their parts by them. Where npm installed the
 * program, all that lies beside it.
 */
function programMounts({ located: { path } }: Agent): Mount[] {
  const modules = `${sep}node_modules${sep}`;
  const at = path.indexOf(modules);
  const root = at === -1 ? path : path.slice(0, at + modules.length - 1);
  return [root, process.execPath]
    .filter((file) => !SYSTEM.some((folder) => file.startsWith(folder)))
    .map((file) => ({ from: file, to: file }));
}

/** The user's sign-in is shown where the CLI looks for it, and not copied: a renewed one must reach the user. */
function signInMounts(agent: Agent, { home }: AgentPaths): Mount[] {
  const files = Object.entries(signInFiles(agent)).filter(([, from]) => existsSync(from)); // without one the CLI says what is missing
  return files.map(([path, from]) => ({ from, to: join(home, path), isWritable: true }));
}

/** Behind a gateway the agent gets no variable of the user; with a sign-in it gets those that belong to the CLI. */
function environmentFor(agent: Agent, launch: Launch, { home, tmp, hasGateway }: AgentPaths & { hasGateway: boolean }) {
  const { cli, model, located, env } = agent;
  const theirs: Environment = hasGateway ? {} : childEnvironment({ cli, model, program: located, inherited: env });
  const programs = new Set([dirname(located.path), dirname(process.execPath)]);
  const path = [...programs, '/usr/local/bin', '/usr/bin', '/bin', '/usr/sbin', '/sbin'].join(delimiter);
  const ours = { PATH: path, HOME: home, TMPDIR: tmp, LANG: 'C.UTF-8', TERM: 'dumb', NO_COLOR: '1', CI: '1' };
  return defined({ ...theirs, ...ours, ...launch.env }) as Record<string, string>;
}
