import {
  type AgentRun,
  type AgentRunner,
  type AgentRunRequest,
  type AgentSpending,
  noUsage,
  type RateLimiter,
  type RunnerContext,
  type Slot,
} from '../core/contracts/index.ts';
import { defined } from '../core/text/index.ts';
import type { Post } from './post.ts';
import type { AgentOf, Orders, Questions, SlotState, WireAgentRequest, WireRun } from './wire.ts';

/** How a run of the agent is made on a worker, by the folder that stands for its workspace. */
const executions = new WeakMap<object, (request: AgentRunRequest) => Promise<AgentRun>>();

/**
 * The same agent at work on workers. The process that trains wraps it as any agent: it limits, counts and paces each of its
 * model calls, which a worker asks for before it sends one.
 */
export function agentElsewhere(agent: AgentRunner): AgentRunner {
  return {
    ...agent,
    run(request) {
      const execute = executions.get(request.workspace);
      if (execute === undefined) throw new Error(`${agent.id} is at work on workers, and was asked here`);
      return execute(request);
    },
  };
}

type OpenRun = {
  readonly request: AgentRunRequest;
  spent: AgentSpending;
  /** Calls that it may make and has not reported yet: an agent may ask several times at once. */
  granted: number;
};

const NOTHING_SPENT: AgentSpending = { calls: 0, usage: noUsage, most: { totalTokens: 0, costUsd: 0 } };

/** The runs of the agent within one attempt, as the process that trains sees them. */
export class AgentRuns {
  readonly #context: RunnerContext;
  readonly #post: Post<Orders>;
  readonly #at: { readonly run: string; readonly worker: string };
  readonly #open = new Map<string, OpenRun>();
  readonly #slots = new Map<number, Slot>();
  readonly #gone = new AbortController();
  #lastSlot = 0;

  constructor(context: RunnerContext, post: Post<Orders>, at: { readonly run: string; readonly worker: string }) {
    this.#context = context;
    this.#post = post;
    this.#at = at;
  }

  async agent({ attempt, agentRun, limits, stage, sampleIndex }: AgentOf & WireAgentRequest): Promise<null> {
    const workspace = { path: '' };
    executions.set(workspace, (request) => this.#execute({ attempt, agentRun }, request));
    const signal = AbortSignal.any([this.#context.signal, this.#gone.signal]);
    await this.#context.agent!.run({
      ...{ workspace, prompt: '', skills: [], limits, sampleIndex, signal },
      ...defined({ stage }),
    });
    return null;
  }

  async #execute(of: AgentOf, request: AgentRunRequest): Promise<AgentRun> {
    const { run, worker } = this.#at;
    this.#open.set(of.agentRun, { request, spent: NOTHING_SPENT, granted: 0 });
    const { limits, asking, signal } = request;
    try {
      const order = { run, ...of, limits, ...defined({ maxRetries: asking?.maxRetries }) };
      const made = await this.#post.ask(worker, 'start', order, signal);
      return { text: '', ended: 'done', steps: [], skillsOffered: [], skillsLoaded: [], ...definedRun(made) };
    } finally {
      this.#open.delete(of.agentRun);
      if (signal.aborted) this.#post.tell(worker, 'end', { run, ...of });
    }
  }

  async spend({ spending, ...of }: AgentOf & { readonly spending: AgentSpending }): Promise<null> {
    const run = this.#openRun(of);
    run.granted = Math.max(0, run.granted - Math.max(0, spending.calls - run.spent.calls));
    run.spent = spending;
    run.request.onSpend?.(spending);
    return null;
  }

  async slot({ isAgain, ...of }: AgentOf & { readonly isAgain: boolean }): Promise<Questions['slot'][1]> {
    const run = this.#openRun(of);
    const { request } = run;
    const limiter = request.asking?.limiter;
    const slot = await limiter?.acquire({ signals: [request.signal], isAgain });
    try {
      // Before it is sent: a call that no limit allows must not be made.
      const { calls, inFlight = 0 } = run.spent;
      const more = run.granted + 1;
      request.onSpend?.({ ...run.spent, calls: calls + more, inFlight: inFlight + more });
      run.granted = more;
    } catch (error) {
      slot?.release();
      throw error;
    }
    this.#lastSlot += 1;
    if (slot) this.#slots.set(this.#lastSlot, slot);
    return { slot: this.#lastSlot, ...stateOf(limiter) };
  }

  #openRun({ agentRun }: AgentOf): OpenRun {
    const found = this.#open.get(agentRun);
    if (found === undefined) throw new Error('the agent is not at work');
    return found;
  }

  async slotEnd({ slot: id, how, retryAfterMs, ...of }: Questions['slotEnd'][0]): Promise<SlotState> {
    const slot = this.#slots.get(id);
    this.#slots.delete(id);
    if (how === 'refuse') slot?.refuse(retryAfterMs);
    else slot?.[how]();
    return stateOf(this.#open.get(of.agentRun)?.request.asking?.limiter);
  }

  /** The worker is gone, or the attempt is over: what its agent was doing is paid for, and no outage of a model. */
  end(): void {
    this.#gone.abort(new Error('the worker of the agent is gone'));
    for (const slot of this.#slots.values()) slot.release();
  }
}

const stateOf = (limiter: RateLimiter | undefined): SlotState => ({
  waiting: limiter?.state().waiting ?? 0,
  refusedForMs: limiter?.refusedForMs(),
});

const definedRun = ({ turns, calls, usage, costUsd }: WireRun) => ({ turns, usage, ...defined({ calls, costUsd }) });

type Asked = { readonly run: string; readonly attempt: number; readonly signal: AbortSignal };

/** A run of the agent that waits for the process that trains to say when it begins, and within which limits. */
type WaitingRun = { start(order: Orders['start'][0]): Promise<WireRun>; end(): void };

/** The agent of this machine, on behalf of the process that trains. `waiting` are the runs that it may start. */
export function agentFor(
  agent: AgentRunner,
  post: Post<Questions>,
  { run, attempt, signal }: Asked,
  waiting: Map<string, WaitingRun>,
): AgentRunner {
  let runs = 0;
  return {
    ...agent,
    async run(request) {
      const of = { attempt, agentRun: String(runs++) };
      const key = `${run} ${attempt} ${of.agentRun}`;
      const over = new AbortController();
      let made: AgentRun | undefined;
      const start = async ({ limits, maxRetries = 0 }: Orders['start'][0]): Promise<WireRun> => {
        const until = AbortSignal.any([request.signal, signal, over.signal]);
        const limiter = limiterFor(post, run, of, until);
        const onSpend = (spending: AgentSpending) => {
          // It says so when it grants a slot that a limit is reached; what was answered is only counted.
          post.ask(run, 'spend', { ...of, spending }).catch((error) => over.abort(error));
        };
        made = await agent.run({ ...request, limits, signal: until, onSpend, asking: { maxRetries, limiter } });
        const { turns, calls, usage, costUsd } = made;
        return { turns, usage, ...defined({ calls, costUsd }) };
      };
      waiting.set(key, { start, end: () => over.abort(new Error('the run gave it up')) });
      try {
        const { limits, stage, sampleIndex } = request;
        await post.ask(run, 'agent', { ...of, limits, sampleIndex, ...defined({ stage }) }, signal);
        return made!;
      } finally {
        waiting.delete(key);
      }
    },
  };
}

/** The line in which calls of all workers wait: the process that trains keeps it. */
function limiterFor(post: Post<Questions>, run: string, of: AgentOf, signal: AbortSignal): RateLimiter {
  let known: SlotState = { waiting: 0 };
  let inFlight = 0;
  return {
    async acquire({ isAgain = false } = {}) {
      const { slot, ...state } = await post.ask(run, 'slot', { ...of, isAgain }, signal);
      known = state;
      inFlight += 1;
      let isOpen = true;
      const end = (how: 'succeed' | 'refuse' | 'release', retryAfterMs?: number) => {
        if (!isOpen) return;
        isOpen = false;
        inFlight -= 1;
        post.ask(run, 'slotEnd', { ...of, slot, how, ...defined({ retryAfterMs }) }).then(
          (now) => {
            known = now;
          },
          () => undefined,
        );
      };
      return {
        succeed: () => end('succeed'),
        refuse: (retryAfterMs) => end('refuse', retryAfterMs),
        release: () => end('release'),
      };
    },
    pause: () => undefined, // a refused slot pauses the line of all
    state: () => ({ calls: Number.POSITIVE_INFINITY, inFlight, waiting: known.waiting }),
    refusedForMs: () => known.refusedForMs,
  };
}
