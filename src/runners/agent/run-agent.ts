import { startError } from '../../agents/index.ts';
import {
  type AgentRun,
  type AgentRunner,
  type AgentRunRequest,
  type AgentStep,
  SkillError,
} from '../../core/contracts/index.ts';
import { type ModelGateway, startModelGateway } from '../../models/index.ts';
import { skillHeader } from '../../skills/index.ts';
import { nameOf } from '../installed-skill.ts';
import { collectLines, toRun } from './collect-run.ts';
import { type Agent, type AgentRunnerOptions, openAgent } from './open-agent.ts';
import { openAgentFolder, prepareRun } from './prepare-run.ts';

/** An installed agent CLI that works in workspaces. Finds its program and its version, and asks no model. */
export async function agentRunner(options: AgentRunnerOptions): Promise<AgentRunner> {
  const agent = await openAgent(options);
  const { cli, located, upstream, model, version, sandbox, signIn } = agent;
  return {
    id: agent.id,
    ...(upstream === undefined ? {} : { account: `${cli.name} ${new URL(upstream.baseURL).host}` }),
    ...(model === undefined ? {} : { modelName: model }),
    capabilities: { ...cli.capabilities, seesOffers: cli.capabilities.seesOffers || upstream !== undefined },
    about: {
      agent: cli.name,
      version,
      path: located.path,
      sandbox: sandbox.id,
      signIn,
      ...(model === undefined ? {} : { model }),
    },
    tellsSpending: upstream !== undefined,
    run: (request) => runAgent(agent, request),
  };
}

/** One attempt: a home of its own with the skills in it, the gateway to its model, the CLI in the sandbox, and the result. */
async function runAgent(agent: Agent, request: AgentRunRequest): Promise<AgentRun> {
  request.signal.throwIfAborted();
  await using folder = await openAgentFolder();
  const stop = new AbortController(); // when there is nothing left to wait for
  const end = () => stop.abort(ENDED);
  await using gateway = await openGateway(agent, request, { socket: folder.socket, onEnd: end });
  let isEnough = false;
  const onStep = (step: AgentStep) => {
    request.onStep?.(step);
    if (!request.until?.(step)) return;
    isEnough = true;
    end();
  };
  const { onLine, collected } = collectLines(agent.cli.reader(request.skills.map(nameOf)), onStep);
  const signal = AbortSignal.any([request.signal, stop.signal]);
  const run = async () => {
    await using prepared = await prepareRun(agent, request, { folder, gateway });
    return await agent.sandbox.run({ ...prepared.command, timeoutMs: request.limits.timeoutMs, signal, onLine });
  };
  const ended = await run().catch((error: unknown) => {
    request.signal.throwIfAborted();
    if (error instanceof SkillError) throw error;
    if (!stop.signal.aborted) throw startError(error, agent);
  });
  return toRun(agent, { collected: collected(), gateway, ended: ended ?? undefined, isEnough });
}

const ENDED = new Error('the run was ended');

/** Between the agent and its provider. Absent where the agent asks with the user's sign-in. */
async function openGateway(
  { upstream, price, sandbox, callTimeoutMs, model }: Agent,
  { limits: { maxTurns, maxTokens, maxUsd, timeoutMs }, skills, signal, onSpend }: AgentRunRequest,
  { socket, onEnd }: { readonly socket: string; readonly onEnd: () => void },
): Promise<ModelGateway | undefined> {
  if (upstream === undefined) return undefined;
  return startModelGateway({
    upstream,
    listen: sandbox.hasOwnNames ? { socket } : { port: 0 },
    limits: { maxCalls: maxTurns, maxTokens, maxUsd },
    price,
    allows: model === undefined ? undefined : (asked) => isSameModel(asked, model),
    skills: skills.map(({ files }) => ({ name: '', description: '', ...skillHeader(files['SKILL.md'] ?? '') })),
    callTimeoutMs: Math.min(callTimeoutMs, Math.ceil(timeoutMs / 3)), // a hang, tried twice, shows before the time is up
    signal,
    onSpend,
    onEnd,
  });
}

/** Names that leave the choice to the CLI. */
const ANY_MODEL = ['auto', 'best', 'default', 'opusplan'];

/**
 * Whether a CLI that was started with one name asks for that model by another: without the provider before it, with the date of
 * a snapshot behind it, or in full for a short name such as `sonnet`.
 */
function isSameModel(asked: string, configured: string): boolean {
  const name = configured.replace(/\[\w+\]$/, ''); // claude: with a longer context
  if (ANY_MODEL.includes(name)) return true;
  const isNamed = (one: string) => asked === one || isSnapshot(asked, one);
  return isNamed(name) || isNamed(name.slice(name.indexOf('/') + 1)) || isShortFor(asked, name);
}

const isSnapshot = (asked: string, name: string) =>
  asked.startsWith(`${name}-`) && /^(?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$/.test(asked.slice(name.length + 1));

/** Short names have no version in them. */
const isShortFor = (asked: string, name: string) => /^[a-z]+$/.test(name) && asked.split(/[-.]/).includes(name);
