import { agentClis, agentError } from '../../agents/index.ts';
import {
  type AgentEnd,
  type AgentRun,
  type OfferedSkill,
  type SandboxResult,
  SkillError,
} from '../../core/contracts/index.ts';
import type { ModelGateway } from '../../models/index.ts';
import type { Agent } from './agent.ts';
import type { Collected } from './collect-run.ts';

type Outcome = {
  readonly collected: Collected;
  readonly gateway: ModelGateway | undefined;
  /** Nothing when we ended it. */
  readonly ended: SandboxResult | undefined;
  /** The caller has seen what it waited for. */
  readonly isEnough: boolean;
};

/** What a run came to. An outage is thrown: it is neither a success nor a failure of the agent. */
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

/** A CLI that knows its model by another name than the project would be refused each time, and look lazy. */
function requireAllowed({ id, model }: Agent, refused: Readonly<Record<string, number>>): void {
  const [name] = Object.keys(refused);
  if (name === undefined) return;
  throw new SkillError('CONFIG_INVALID', `${id} asked for the model ${name}, and the target names ${model}`, {
    hint: `Write target: { model: ${name} }, or leave it out: then the agent asks whichever it wants.`,
  });
}

type End = { readonly ended: AgentEnd; readonly endReason?: string };

/** Limits first: a CLI that meets one says all sorts of things about it. */
function endOf(agent: Agent, { collected, gateway, ended, isEnough }: Outcome): End {
  if (isEnough) return { ended: 'done' };
  const limit = gateway?.ended();
  if (limit !== undefined) return { ended: limit };
  if (ended?.exceeded !== undefined) return { ended: 'resources', endReason: ended.exceeded };
  const silence = ended?.timedOut ? gateway?.silence() : undefined;
  if (silence !== undefined) throw silence;
  if (ended?.timedOut) return { ended: 'timeout' };
  if (collected.refusal !== undefined) throw outage(agent, collected.refusal);
  if (collected.ended !== undefined) return { ended: collected.ended };
  // Some say nothing at their end. With an answer of the model and an orderly exit, that is one.
  if (ended?.exitCode === 0 && collected.steps.length > 0) return { ended: 'done' };
  const killedBy = ended === undefined ? undefined : signalOf(ended);
  if (killedBy !== undefined && hasWorked(collected, gateway)) return { ended: 'killed', endReason: killedBy };
  throw outage(agent, { failure: lastWords(ended) });
}

/** By which signal it ended that we did not send. A shell and a sandbox tell of a signal as 128 and its number. */
function signalOf({ signal, exitCode }: SandboxResult): string | undefined {
  if (exitCode === 137) return 'SIGKILL';
  if (exitCode === 143) return 'SIGTERM';
  return signal;
}

/** Its model had answered, and nothing was waited for: what ended it then was a command of its own, such as `pkill node`. */
const hasWorked = ({ steps }: Collected, gateway: ModelGateway | undefined) =>
  gateway === undefined ? steps.length > 0 : gateway.calls() > 0 && gateway.silence() === undefined;

const outage = ({ id, env, program }: Agent, { failure, status }: { failure: string; status?: number | undefined }) =>
  agentError({ cli: agentClis[program.cli], id, env, words: failure, status });

function lastWords(ended: SandboxResult | undefined): string {
  if (ended === undefined) return 'ended without a word';
  const said = (ended.stderr.trim() || wordsIn(ended.stdout)).slice(-300);
  return said === '' ? `ended without a word, with ${ended.signal ?? `exit code ${ended.exitCode}`}` : said;
}

/** What a CLI prints beside its events. */
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
