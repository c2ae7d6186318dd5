import { type AgentCliName, agentClis, detectAgents, findBinary, isExecutable } from '../../agents/index.ts';
import { type AgentPin, pinAgents, readPins } from '../../project/index.ts';
import { probeSandbox } from '../../workspaces/index.ts';
import type { Io } from '../terminal/io.ts';

/** None is fine: only a project that names one as a model needs it. The programs that are found are used from now on. */
export async function describeAgents(io: Io): Promise<string> {
  const before = await readPins(io.env);
  const agents = await detectAgents(io.env, io.cwd());
  const others = Object.entries(before).filter(([cli]) => !agents.some((agent) => agent.cli === cli));
  const gone = others.filter(([, { path }]) => !isExecutable(path));
  await pinAgents(
    agents,
    io.env,
    gone.map(([cli]) => cli),
  );
  const found = agents.map(
    ({ cli, version, path }) => `${named(cli, version)} ${path}${changeOf(before[cli], path)}${asTarget(cli, io)}`,
  );
  const unfound = others.map(([cli, { version, path }]) => {
    return `${named(cli, version)} ${path} ${isExecutable(path) ? '(pinned, not on PATH)' : '(is gone, and forgotten)'}`;
  });
  const sandbox = found.length === 0 ? [] : [await describeSandbox()];
  return [...found, ...unfound, ...sandbox].join('\n') || NONE;
}

const NONE = 'none on PATH; a target that names the path of its program needs none there';

/** The sandbox that they would work in, with tools. Tried, not guessed. */
async function describeSandbox(): Promise<string> {
  const { auto, bubblewrap } = await probeSandbox();
  if (auto !== undefined) return `with tools they work in ${auto}`;
  return `with tools they need a sandbox${bubblewrap.isAvailable ? '' : `: ${bubblewrap.reason}`}`;
}

const named = (cli: string, version: string | null | undefined) => `${cli} ${version ?? '(version unknown)'}`;

/** How a project names it as a target with tools, and what it still needs for that. */
function asTarget(cli: AgentCliName, { env }: Io): string {
  const { name, needs = [] } = agentClis[cli];
  const missing = needs.filter((needed) => findBinary(needed, env) === undefined);
  const lack = missing.length === 0 ? '' : `, which needs ${missing.join(', ')} on PATH`;
  return `, target: { agent: ${name} }${lack}`;
}

const changeOf = (before: AgentPin | undefined, path: string) =>
  before === undefined || before.path === path ? '' : ` (was ${before.path})`;
