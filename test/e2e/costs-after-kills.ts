import { setTimeout as delay } from 'node:timers/promises';
import { PythonRandom } from 'skillopt';
import { simulatedOptimizer, simulatedTarget } from 'skillopt/sim';
import { startFakeAgentLLM, startFakeLLM } from 'skillopt/testing';
import { sleepHome } from '../support/sleep/sleep-home.ts';
import { agentProject, shopTask, taskRows } from '../unit/cli/agent-target/agent-project.ts';
import { startClone } from '../unit/cli/clone-cli.ts';
import { nightAnswer, nightFlags, reviewedTasks } from '../unit/cli/sleep/night-over-http.ts';
import { createProject, worldFiles } from './project.ts';

const WORKERS = 4;
/** As many as a night has by default. */
const NIGHT_WORKERS = 8;
/** More than any call here may take: its prompt and the longest reply. */
const MOST_TOKENS = 40_000;

type Amounts = { readonly calls: number; readonly tokens: number };
type Told = Amounts & { readonly mayHaveBeen?: Amounts | undefined };

/** Work that a provider on loopback is asked for, and that can be killed. */
export interface CostWorld extends AsyncDisposable {
  /** Calls in flight at once. Where there are limits, half as many after each kill. */
  readonly atOnce: number;
  /** Whether it has limits that nobody asked for. */
  readonly isLimited?: boolean;
  /** The most that one attempt may take: with an agent, several calls, which begin again after a kill. */
  readonly attempt: Amounts;
  start(flags: readonly string[]): ReturnType<typeof startClone>;
  /** What the provider has answered. */
  answered(): Amounts;
  /** What the tool says that it cost, after a kill or at the end. */
  told(stdout: string): Promise<Told>;
}

/** Limits by the names of their flags. */
export type CostLimits = { readonly calls: number; readonly tokens: number };

export type CostOutcome = Amounts & {
  readonly code: number | null;
  readonly kills: number;
  /** Where what was told and what was answered did not fit, in words. */
  readonly faults: readonly string[];
  readonly told: Told;
};

type Spending = {
  readonly kills: number;
  readonly seed: number;
  readonly limits?: CostLimits;
  /** The most answers between two kills. */
  readonly pace?: number;
};

/** From the start to the end, killed at random moments on the way. */
export async function spendWithKills(world: CostWorld, spending: Spending): Promise<CostOutcome> {
  const { kills, seed, limits, pace = 8 } = spending;
  const random = new PythonRandom(seed);
  const flags = limits ? ['--max-calls', `${limits.calls}`, '--max-total-tokens', `${limits.tokens}`] : [];
  const faults: string[] = [];
  for (let killed = 0; ; ) {
    const { child, finished } = world.start(flags);
    const target = world.answered().calls + 1 + Math.floor(random.random() * pace);
    if (killed < kills) {
      while (child.exitCode === null && world.answered().calls < target) await delay(2);
      await delay(random.random() * 40);
      child.kill('SIGKILL');
    }
    const { code, signal, stdout } = await finished;
    if (signal === 'SIGKILL') killed += 1;
    await delay(60); // for answers that nobody waits for any more
    const [told, answered] = [await world.told(stdout), world.answered()];
    const mostInFlight = limits || world.isLimited ? inFlightAt(killed, world.atOnce) : killed * world.atOnce;
    faults.push(...faultsIn(told, answered, { mostInFlight, killed, limits }));
    if (signal !== 'SIGKILL') return { code, kills: killed, faults, told, ...answered };
  }
}

/** The most calls that are in flight at so many kills together. */
const inFlightAt = (kills: number, atOnce: number) =>
  Array.from({ length: kills }, (_, before) => Math.max(1, Math.floor(atOnce / 2 ** before))).reduce(
    (a, b) => a + b,
    0,
  );

type Expected = { readonly killed: number; readonly mostInFlight: number; readonly limits: CostLimits | undefined };

function faultsIn(told: Told, answered: Amounts, { killed, mostInFlight, limits }: Expected): string[] {
  const { calls, tokens, mayHaveBeen = { calls: 0, tokens: 0 } } = told;
  const after = `after ${killed} kills`;
  const faults = [
    calls > answered.calls && `${calls} calls told, ${answered.calls} answered`,
    calls + mayHaveBeen.calls < answered.calls &&
      `${calls} + ${mayHaveBeen.calls} calls told, ${answered.calls} answered`,
    tokens > answered.tokens && `${tokens} tokens told, ${answered.tokens} answered`,
    limits &&
      tokens + mayHaveBeen.tokens < answered.tokens &&
      `at most ${tokens + mayHaveBeen.tokens} tokens told, ${answered.tokens} answered`,
    mayHaveBeen.calls > mostInFlight && `${mayHaveBeen.calls} calls in flight at kills, at most ${mostInFlight} were`,
    mayHaveBeen.tokens > MOST_TOKENS * mayHaveBeen.calls &&
      `${mayHaveBeen.tokens} tokens for ${mayHaveBeen.calls} calls`,
    limits && answered.calls > limits.calls && `${answered.calls} of ${limits.calls} calls answered`,
    limits && answered.tokens > limits.tokens && `${answered.tokens} of ${limits.tokens} tokens answered`,
  ];
  return faults.flatMap((fault) => (fault ? [`${after}: ${fault}`] : []));
}

/** What pays for the work and for all that kills can cost: attempts that begin again, and calls in flight at their most. */
export const enoughFor = ({ calls, tokens }: Amounts, { attempt, atOnce }: CostWorld, kills: number): CostLimits => ({
  calls: calls + (inFlightAt(kills, atOnce) + atOnce) * attempt.calls,
  tokens: tokens + (inFlightAt(kills, atOnce) + atOnce) * attempt.tokens,
});

const tokensOf = { prompt_tokens: 50, completion_tokens: 7 };
const LATENCY_MS = 25;
const ONE_CALL: Amounts = { calls: 1, tokens: MOST_TOKENS };

/** A training with models behind HTTP. */
export async function trainerWorld(): Promise<CostWorld> {
  const models = { 'sim-target': simulatedTarget(), 'sim-optimizer': simulatedOptimizer() };
  const server = await startFakeLLM(async ({ model, messages }) => {
    const { text } = await models[model as keyof typeof models].complete({ messages: messages as never });
    return { content: text, usage: tokensOf, delayMs: LATENCY_MS };
  });
  const named = (model: string) => ({ provider: 'compatible', model, baseURL: server.baseURL });
  const settings = { numEpochs: 3, batchSize: 8, minibatchSize: 4, workers: WORKERS };
  const project = await createProject(
    worldFiles({ ...settings, target: named('sim-target'), optimizer: named('sim-optimizer') }),
  );
  return {
    ...{ atOnce: WORKERS, attempt: ONE_CALL },
    start: (flags) => startClone(['train', '--quiet', '--ignore-estimate', ...flags], { cwd: project.directory }),
    answered: () => loggedBy(server),
    told: async () => JSON.parse((await project.ask(['show', 'runs/run', '--json'])).stdout).verdict,
    async [Symbol.asyncDispose]() {
      await project[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

const loggedBy = ({ requests }: { readonly requests: readonly unknown[] }): Amounts => ({
  calls: requests.length,
  tokens: requests.length * (tokensOf.prompt_tokens + tokensOf.completion_tokens),
});

/** A training whose target is an agent: a stand-in program that asks its model through the gateway. */
export async function agentWorld(): Promise<CostWorld> {
  const llm = await startFakeAgentLLM({ policy: 'follow' });
  llm.hang(LATENCY_MS);
  const config = { workers: WORKERS, evalTest: false };
  const files = { 'tasks.jsonl': taskRows(shopTask, 5) };
  const project = agentProject({ baseURL: llm.url, config, files, target: { limits: { maxTokens: 20_000 } } });
  return {
    ...{ atOnce: WORKERS, attempt: { calls: 51, tokens: 260_000 } },
    start: (flags) => startClone(['train', '--quiet', '--ignore-estimate', ...flags], { cwd: project.path }),
    answered: () => ({ calls: llm.calls(), tokens: llm.usage().input + llm.usage().output }),
    told: async () => ofAgents(JSON.parse((await project.run('show', 'runs/run', '--json')).out)),
    async [Symbol.asyncDispose]() {
      project[Symbol.dispose]();
      await llm[Symbol.asyncDispose]();
    },
  };
}

type ShownRun = {
  readonly verdict: Told;
  readonly tokenSummary?: Readonly<Record<string, Readonly<Record<'replies' | 'input' | 'output', number>>>>;
};

/** Without the calls of the simulated optimizer, which no provider has seen. */
function ofAgents({ verdict, tokenSummary = {} }: ShownRun): Told {
  const others = Object.entries(tokenSummary).filter(([stage]) => stage !== 'rollout');
  const calls = others.reduce((sum, [, { replies }]) => sum + replies, 0);
  const tokens = others.reduce((sum, [, { input, output }]) => sum + input + output, 0);
  return { ...verdict, calls: verdict.calls - calls, tokens: verdict.tokens - tokens };
}

/** A night over tasks that a person has reviewed. */
export async function nightWorld(): Promise<CostWorld> {
  const server = await startFakeLLM((request) => ({
    ...{ content: nightAnswer(request), usage: tokensOf, delayMs: LATENCY_MS },
  }));
  const home = sleepHome();
  reviewedTasks(home);
  return {
    ...{ atOnce: NIGHT_WORKERS, attempt: ONE_CALL, isLimited: true },
    start(flags) {
      const limits = flags.map((flag) => flag.replace('--max-total-tokens', '--max-tokens-per-night'));
      const args = ['sleep', ...nightFlags(server.baseURL, '--json', ...limits)];
      return startClone(args, { cwd: home.shop, env: home.env });
    },
    answered: () => loggedBy(server),
    async told(stdout) {
      if (stdout === '') {
        const { unfinished } = JSON.parse((await home.run(['status', '--json'])).out);
        return unfinished?.cost ?? { calls: 0, tokens: 0 };
      }
      const { calls, tokensUsed: tokens, mayHaveBeen } = JSON.parse(stdout);
      return { calls, tokens, mayHaveBeen };
    },
    async [Symbol.asyncDispose]() {
      home[Symbol.dispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}
