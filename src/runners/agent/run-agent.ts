import { type AgentEvent, type AgentRefusal, agentError, type EventReader, startError } from '../../agents/index.ts';
import {
  type AgentRun,
  type AgentRunner,
  type AgentRunRequest,
  type AgentStep,
  addTokens,
  noUsage,
  type SandboxResult,
  SkillError,
} from '../../core/contracts/index.ts';
import { defined } from '../../core/text/index.ts';
import { type ModelGateway, startModelGateway } from '../../models/index.ts';
import { skillHeader } from '../../skills/index.ts';
import { nameOf } from '../installed-skill.ts';
import { type Agent, type AgentRunnerOptions, openAgent } from './open-agent.ts';
import { openAgentFolder, prepareRun } from './prepare-run.ts';

/**
 * An installed agent CLI that works in workspaces. Finds its program and its version before any attempt, and asks no model. One that is
 * not installed is CONFIG_INVALID, with the command that installs it.
 */
export async function agentRunner(options: AgentRunnerOptions): Promise<AgentRunner> {
  const agent = await openAgent(options);
  const { cli, located, upstream, model, version, sandbox, signIn } = agent;
  return {
    id: agent.id,
    ...(upstream === undefined ? {} : { account: `${cli.name} ${new URL(upstream.baseURL).host}` }),
    ...defined({ modelName: model }),
    capabilities: { ...cli.capabilities, seesOffers: cli.capabilities.seesOffers || upstream !== undefined },
    about: { agent: cli.name, version, path: located.path, sandbox: sandbox.id, signIn, ...defined({ model }) },
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

/** Between the agent and its provider. Absent without a key and an address: then the agent asks with the user's sign-in. */
async function openGateway(
  { upstream, price, sandbox, callTimeoutMs, model }: Agent,
  { limits: { maxTurns, maxTokens, maxUsd, timeoutMs }, skills, signal, onSpend, asking }: AgentRunRequest,
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
    callTimeoutMs: Math.min(callTimeoutMs, Math.ceil(timeoutMs / 3)), // asked once and once more, a hang shows before the time is up; `endOf` throws it as an outage, which stops the run
    ...(asking && { retry: { maxRetries: asking.maxRetries }, limiter: asking.limiter }),
    signal,
    onSpend,
    onEnd,
  });
}

/** Names that leave the choice to the CLI. */
const ANY_MODEL = ['auto', 'best', 'default', 'opusplan'];

/**
 * Whether a CLI that was started with one name asks for that model by another: without the provider before it, with the date of
 * a snapshot after it, or in full for a short name such as `sonnet`.
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

type OtherEvent = Exclude<AgentEvent, AgentStep>;
type Collected = { readonly steps: readonly AgentStep[] } & ReturnType<typeof summed>;

const STEPS = ['text', 'tool-call', 'tool-result', 'skill-loaded'];
const isStep = (event: AgentEvent): event is AgentStep => STEPS.includes(event.type);

/** Takes lines as they come, reports each step, and can say at any time what they add up to. */
function collectLines(read: EventReader, onStep: (step: AgentStep) => void) {
  const steps: AgentStep[] = [];
  const others: OtherEvent[] = [];
  const take = (event: AgentEvent) => {
    if (!isStep(event)) return void others.push(event);
    steps.push(event);
    onStep(event);
  };
  return {
    onLine: (line: string) => read(line).forEach(take),
    collected: (): Collected => ({ steps, ...summed(steps, others) }),
  };
}

function summed(steps: readonly AgentStep[], others: readonly OtherEvent[]) {
  const of = <T extends OtherEvent['type']>(type: T) =>
    others.filter((event): event is Extract<OtherEvent, { type: T }> => event.type === type);
  const end = of('end').at(-1);
  const used = of('usage');
  const total = used.findLast(({ isTotal }) => isTotal);
  const costs = used.flatMap(({ costUsd = [] }) => costUsd);
  const texts = steps.filter((step) => step.type === 'text');
  return {
    text: end?.text ?? texts.at(-1)?.text ?? '',
    offered: unique(of('skill-offered')),
    loaded: unique(steps.filter((step) => step.type === 'skill-loaded')),
    usage: total?.usage ?? used.map(({ usage }) => usage).reduce(addTokens, noUsage),
    costUsd: total?.costUsd ?? (costs.length === 0 ? undefined : costs.reduce((sum, cost) => sum + cost, 0)),
    /** How it ended by its own account. Absent if it was ended. */
    ended: end?.ended,
    refusal: of('failure').at(-1)?.refusal,
  };
}

const unique = (skills: readonly { readonly name: string }[]) => [...new Set(skills.map(({ name }) => name))];

type Outcome = {
  readonly collected: Collected;
  readonly gateway: ModelGateway | undefined;
  /** Absent where the caller had seen enough, or stopped the run. */
  readonly ended: SandboxResult | undefined;
  /** Whether the caller has seen what it waited for. */
  readonly isEnough: boolean;
};

/** The result of a run. An outage is thrown: it is neither a success nor a failure of the agent. */
function toRun(agent: Agent, outcome: Outcome): AgentRun {
  const { collected, gateway } = outcome;
  const failure = gateway?.failure(); // of a call that was silent twice, too, whatever the agent ended with
  if (failure !== undefined && !outcome.isEnough) throw failure;
  if (gateway?.calls() === 0) requireAllowed(agent, gateway.refused());
  const modelsRefused = gateway?.refused() ?? {};
  return {
    text: collected.text,
    ...endOf(agent, outcome),
    turns: gateway?.calls() ?? turnsIn(collected),
    steps: collected.steps,
    // The gateway saw what the model was sent; a CLI that lists its skills knows only names.
    skillsOffered: gateway?.offered() ?? collected.offered.map((name) => ({ name })),
    skillsLoaded: collected.loaded,
    usage: gateway?.usage() ?? collected.usage,
    ...defined({ calls: gateway?.sent(), costUsd: gateway?.costUsd() ?? collected.costUsd }),
    ...(Object.keys(modelsRefused).length === 0 ? {} : { modelsRefused }),
  };
}

/** A CLI that has another name for its model than the project would be refused each time, and would seem to do nothing. */
function requireAllowed({ id, model }: Agent, refused: Readonly<Record<string, number>>): void {
  const [name] = Object.keys(refused);
  if (name === undefined) return;
  throw new SkillError('CONFIG_INVALID', `${id} asked for the model ${name}, and the target names ${model}`, {
    hint: `Write target: { model: ${name} }, or leave it out: then the agent asks whichever it wants.`,
  });
}

/** Limits first: a CLI that reaches one may print anything about it. */
function endOf(agent: Agent, { collected, gateway, ended, isEnough }: Outcome): Pick<AgentRun, 'ended' | 'endReason'> {
  if (isEnough) return { ended: 'done' };
  const limit = gateway?.ended();
  if (limit !== undefined) return { ended: limit };
  if (ended?.exceeded !== undefined) return { ended: 'resources', endReason: ended.exceeded };
  const silence = ended?.timedOut ? gateway?.silence() : undefined;
  if (silence !== undefined) throw silence;
  if (ended?.timedOut) return { ended: 'timeout' };
  if (collected.refusal !== undefined) throw outage(agent, collected.refusal);
  if (collected.ended !== undefined) return { ended: collected.ended };
  // Some CLIs print nothing at their end. An answer of the model and exit code 0 are enough.
  if (ended?.exitCode === 0 && collected.steps.length > 0) return { ended: 'done' };
  const killedBy = ended && signalOf(ended);
  if (killedBy !== undefined && hasWorked(collected, gateway)) return { ended: 'killed', endReason: killedBy };
  throw outage(agent, { failure: lastWords(ended) });
}

/** The signal that ended it and was not ours. Shells and sandboxes report a signal as 128 plus its number. */
const signalOf = ({ signal, exitCode = 0 }: SandboxResult) => SIGNALS[exitCode] ?? signal;
const SIGNALS: Readonly<Record<number, string>> = { 137: 'SIGKILL', 143: 'SIGTERM' };

/** Its model had answered and no answer was pending, so a command of its own ended it, such as `pkill node`. */
const hasWorked = ({ steps }: Collected, gateway: ModelGateway | undefined) =>
  gateway === undefined ? steps.length > 0 : gateway.calls() > 0 && gateway.silence() === undefined;

const outage = ({ id, env, cli }: Agent, { failure, status }: AgentRefusal) =>
  agentError({ cli, id, env, words: failure, status });

function lastWords(ended: SandboxResult | undefined): string {
  if (ended === undefined) return 'ended without a word';
  const besideEvents = ended.stdout.split('\n').filter((line) => !/^\s*[{}[\]"]/.test(line));
  const said = (ended.stderr.trim() || besideEvents.join('\n').trim()).slice(-300);
  return said === '' ? `ended without a word, with ${ended.signal ?? `exit code ${ended.exitCode}`}` : said;
}

/** Each time that it speaks or acts after a result is another answer of its model. */
function turnsIn({ steps }: Collected): number {
  const own = steps.map(({ type }) => type === 'text' || type === 'tool-call');
  return own.filter((isOwn, index) => isOwn && !own[index - 1]).length;
}
