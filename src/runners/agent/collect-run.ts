import { type AgentEvent, type AgentRefusal, agentError, type EventReader } from '../../agents/index.ts';
import {
  type AgentEnd,
  type AgentRun,
  type AgentStep,
  addTokens,
  noUsage,
  type OfferedSkill,
  type SandboxResult,
  SkillError,
  type Usage,
} from '../../core/contracts/index.ts';
import type { ModelGateway } from '../../models/index.ts';
import type { Agent } from './open-agent.ts';

/** What the lines of a CLI add up to. */
type Collected = {
  readonly steps: readonly AgentStep[];
  readonly text: string;
  readonly offered: readonly string[];
  readonly loaded: readonly string[];
  readonly usage: Usage;
  readonly costUsd: number | undefined;
  /** How it ended by its own account. Absent if it was ended. */
  readonly ended: AgentEnd | undefined;
  readonly refusal: AgentRefusal | undefined;
};

const STEPS = ['text', 'tool-call', 'tool-result', 'skill-loaded'];
const isStep = (event: AgentEvent): event is AgentStep => STEPS.includes(event.type);

/** Takes lines as they come, reports each step, and can say at any time what they add up to. */
export function collectLines(read: EventReader, onStep: (step: AgentStep) => void) {
  const steps: AgentStep[] = [];
  const others: Exclude<AgentEvent, AgentStep>[] = [];
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

function summed(steps: readonly AgentStep[], others: readonly Exclude<AgentEvent, AgentStep>[]) {
  const of = <T extends AgentEvent['type']>(type: T) =>
    others.filter((event): event is Extract<typeof event, { type: T }> => event.type === type);
  const end = of('end').at(-1);
  const used = of('usage');
  const total = used.findLast(({ isTotal }) => isTotal);
  const costs = used.map(({ costUsd }) => costUsd).filter((cost) => cost !== undefined);
  const texts = steps.filter((step) => step.type === 'text');
  return {
    text: end?.text ?? texts.at(-1)?.text ?? '',
    offered: unique(of('skill-offered').map(({ name }) => name)),
    loaded: unique(steps.filter((step) => step.type === 'skill-loaded').map(({ name }) => name)),
    usage: total?.usage ?? used.map(({ usage }) => usage).reduce(addTokens, noUsage),
    costUsd: total?.costUsd ?? (costs.length === 0 ? undefined : costs.reduce((sum, cost) => sum + cost, 0)),
    ended: end?.ended,
    refusal: of('failure').at(-1)?.refusal,
  };
}

const unique = (names: readonly string[]) => [...new Set(names)];

type Outcome = {
  readonly collected: Collected;
  readonly gateway: ModelGateway | undefined;
  /** Absent when we ended it. */
  readonly ended: SandboxResult | undefined;
  /** Whether the caller has seen what it waited for. */
  readonly isEnough: boolean;
};

/** The result of a run. An outage is thrown: it is neither a success nor a failure of the agent. */
export function toRun(agent: Agent, outcome: Outcome): AgentRun {
  const { collected, gateway } = outcome;
  const failure = gateway?.failure();
  if (failure !== undefined && !outcome.isEnough) throw failure;
  if (gateway?.calls() === 0) requireAllowed(agent, gateway.refused());
  const end = endOf(agent, outcome);
  const costUsd = gateway?.costUsd() ?? collected.costUsd;
  return {
    text: collected.text,
    ...end,
    turns: gateway?.calls() ?? turnsIn(collected),
    steps: collected.steps,
    skillsOffered: offeredIn(outcome),
    skillsLoaded: collected.loaded,
    usage: gateway?.usage() ?? collected.usage,
    ...(costUsd === undefined ? {} : { costUsd }),
    ...(Object.keys(gateway?.refused() ?? {}).length === 0 ? {} : { modelsRefused: gateway!.refused() }),
  };
}

/** A CLI that has another name for its model than the project would be refused each time, and seem to do nothing. */
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
  // Some print nothing at their end. With an answer of the model and an orderly exit, that is one.
  if (ended?.exitCode === 0 && collected.steps.length > 0) return { ended: 'done' };
  const killedBy = ended === undefined ? undefined : signalOf(ended);
  if (killedBy !== undefined && hasWorked(collected, gateway)) return { ended: 'killed', endReason: killedBy };
  throw outage(agent, { failure: lastWords(ended) });
}

/** The signal that ended it and was not ours. Shells and sandboxes report a signal as 128 plus its number. */
function signalOf({ signal, exitCode }: SandboxResult): string | undefined {
  if (exitCode === 137) return 'SIGKILL';
  if (exitCode === 143) return 'SIGTERM';
  return signal;
}

/** Its model had answered and no answer was pending, so a command of its own ended it, such as `pkill node`. */
const hasWorked = ({ steps }: Collected, gateway: ModelGateway | undefined) =>
  gateway === undefined ? steps.length > 0 : gateway.calls() > 0 && gateway.silence() === undefined;

const outage = ({ id, env, cli }: Agent, { failure, status }: AgentRefusal) =>
  agentError({ cli, id, env, words: failure, status });

function lastWords(ended: SandboxResult | undefined): string {
  if (ended === undefined) return 'ended without a word';
  const said = (ended.stderr.trim() || wordsIn(ended.stdout)).slice(-300);
  return said === '' ? `ended without a word, with ${ended.signal ?? `exit code ${ended.exitCode}`}` : said;
}

/** What a CLI prints besides its events. */
const wordsIn = (stdout: string) =>
  stdout
    .split('\n')
    .filter((line) => !/^\s*[{}[\]"]/.test(line))
    .join('\n')
    .trim();

/** Each time that it speaks or acts after a result is another answer of its model. */
function turnsIn({ steps }: Collected): number {
  const own = steps.map(({ type }) => type === 'text' || type === 'tool-call');
  return own.filter((isOwn, index) => isOwn && !own[index - 1]).length;
}

/** The gateway saw what the model was told; a CLI that lists its skills knows names alone. */
function offeredIn({ gateway, collected }: Outcome): readonly OfferedSkill[] {
  return gateway?.offered() ?? collected.offered.map((name) => ({ name }));
}
