import { join } from 'node:path';
import { isSameModel, startError } from '../../agents/index.ts';
import { type AgentRun, type AgentRunRequest, type AgentStep, SkillError } from '../../core/contracts/index.ts';
import { type ModelGateway, startModelGateway } from '../../models/index.ts';
import { skillHeader } from '../../skills/index.ts';
import type { Agent } from './agent.ts';
import { type AgentFolder, openAgentFolder } from './agent-folder.ts';
import { collectRun } from './collect-run.ts';
import { prepareRun } from './prepare-run.ts';
import { nameOf } from './skill-at-work.ts';
import { toRun } from './to-run.ts';

/** One piece of work: a home of its own, the skills in it, the CLI in the sandbox, and what became of it. */
export async function runAgent(agent: Agent, request: AgentRunRequest): Promise<AgentRun> {
  request.signal.throwIfAborted();
  await using folder = await openAgentFolder();
  const stop = new AbortController(); // when there is nothing left to wait for
  await using gateway = await openGateway(agent, request, folder, () => stop.abort(ENDED));
  let isEnough = false;
  const onStep = (step: AgentStep) => {
    request.onStep?.(step);
    if (!request.until?.(step)) return;
    isEnough = true;
    stop.abort(ENDED);
  };
  const { onLine, collected } = collectRun(agent.program.reader(request.skills.map(nameOf)), onStep);
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

async function openGateway(
  { upstream, price, sandbox, callTimeoutMs, model }: Agent,
  { limits: { maxTurns, maxTokens, maxUsd, timeoutMs }, skills, signal, onSpend }: AgentRunRequest,
  folder: AgentFolder,
  onEnd: () => void,
): Promise<ModelGateway | undefined> {
  if (upstream === undefined) return undefined;
  return startModelGateway({
    upstream,
    listen: sandbox.hasOwnNames ? { socket: join(folder.sockets, 'model.sock') } : { port: 0 },
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
