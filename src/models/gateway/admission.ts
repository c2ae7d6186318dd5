import {
  type AgentSpending,
  addTokens,
  ModelCallError,
  noUsage,
  type OfferedSkill,
  type Usage,
} from '../../core/contracts/index.ts';
import { costUsd, type Price, priceOf } from '../budget/prices.ts';
import type { Fault, GatewayDialect, Json } from './gateway-dialects.ts';
import type { Asked } from './read-call.ts';
import { failureFault } from './relay-call.ts';

/** A limit that is reached, or a provider that failed. */
export type GatewayEnd = 'turns' | 'budget' | 'failure';

type NamedSkill = { readonly name: string; readonly description: string };

export type AdmissionOptions = {
  /** Whether a model may be asked, by its name. Default: all. */
  readonly allows?: ((model: string) => boolean) | undefined;
  /** Looked for in the first request. */
  readonly skills?: readonly NamedSkill[] | undefined;
  /** Notified once, when no further call will pass. */
  readonly onEnd?: ((reason: GatewayEnd) => void) | undefined;
};

/** Decides which calls may pass, and keeps what was seen of them. */
export class Admission {
  readonly models = new Set<string>();
  readonly refused = new Map<string, number>();
  first: FirstRequest = { tools: [], offered: [] };
  failure: ModelCallError | undefined;
  ended: 'turns' | 'budget' | undefined;
  silence: ModelCallError | undefined;
  readonly #spending: Spending;
  readonly #options: AdmissionOptions;

  constructor(spending: Spending, options: AdmissionOptions) {
    this.#spending = spending;
    this.#options = options;
  }

  /** Why a call may not pass. */
  refuse({ model, body, dialect }: Asked): Fault | undefined {
    const { allows, skills = [] } = this.#options;
    if (allows?.(model ?? '') === false) return this.#refuseModel(model ?? '(none)');
    if (this.first.tools.length === 0) this.first = readFirstRequest(body, dialect, skills);
    const fault = this.#stop(model);
    if (fault === undefined && model !== undefined) this.models.add(model);
    return fault;
  }

  fail(error: ModelCallError): Fault {
    const isFirst = this.#isOpen();
    this.failure ??= error;
    if (isFirst) this.#options.onEnd?.('failure');
    return failureFault(error);
  }

  #isOpen(): boolean {
    return this.ended === undefined && this.failure === undefined;
  }

  #refuseModel(name: string): Fault {
    this.refused.set(name, (this.refused.get(name) ?? 0) + 1);
    const message = `The model ${name} is not the one of this run, and is not asked. No call was made.`;
    return { status: 400, message };
  }

  /** By what was spent, or because the provider has failed before. */
  #stop(model: string | undefined): Fault | undefined {
    if (this.failure !== undefined) return failureFault(this.failure);
    const limit = this.#spending.reached();
    if (limit !== undefined) {
      const isFirst = this.#isOpen();
      this.ended ??= limit.ended;
      if (isFirst) this.#options.onEnd?.(limit.ended);
      const message = `This run may use ${limit.amount}, and they are used up. No further call is made.`;
      return { status: 400, message };
    }
    const unpriced = this.#spending.unpriced(model);
    return unpriced && this.fail(unpriced);
  }
}

/** What the model read before the agent did anything. */
type FirstRequest = { readonly tools: readonly string[]; readonly offered: readonly OfferedSkill[] };

function readFirstRequest(body: Json, dialect: GatewayDialect, skills: readonly NamedSkill[]): FirstRequest {
  const tools = dialect.toolNames(body).filter((name) => name !== undefined);
  if (skills.length === 0) return { tools, offered: [] };
  const texts = textsIn(body);
  const said = plain(texts.join('\n'));
  return { tools, offered: skills.flatMap((skill) => offerOf(skill, said, texts)) };
}

/** All texts of a request: system prompts, messages, descriptions of tools and of their arguments. */
function textsIn(value: Json, texts: string[] = []): string[] {
  if (typeof value === 'string') texts.push(value);
  else if (typeof value === 'object' && value !== null) for (const key in value) textsIn(value[key], texts);
  return texts;
}

function offerOf({ name, description }: NamedSkill, said: string, texts: readonly string[]): OfferedSkill[] {
  const part = describedPart(plain(description), said);
  const isOffered = part === 'none' ? isListed(name, texts) : mentions(name, texts);
  return isOffered ? [{ name, description: part }] : [];
}

/** A shorter beginning may be that of another skill. */
const SHORTEST_CUT = 24;

function describedPart(description: string, said: string): 'whole' | 'cut' | 'none' {
  if (description !== '' && said.includes(description)) return 'whole';
  const beginning = description.slice(0, SHORTEST_CUT);
  return beginning.length === SHORTEST_CUT && said.includes(beginning) ? 'cut' : 'none';
}

const mentions = (name: string, texts: readonly string[]) =>
  texts.some((text) => new RegExp(`(?<![\\w-])${escaped(name)}(?![\\w-])`).test(text));

/** As agents list names: in a list, a tag, a path, or as a value of an argument. A sentence of the user does not count. */
function isListed(name: string, texts: readonly string[]): boolean {
  const known = escaped(name);
  const listing = new RegExp(
    `^\\s*[-*] [\`*"']*${known}[\`*"']*\\s*(?:$|[:(—–-])|<name>\\s*${known}\\s*</name>|/${known}/SKILL\\.md|'${known}'`,
    'm',
  );
  return texts.some((text) => text === name || listing.test(text));
}

const escaped = (name: string) => name.replace(/[^\w-]/g, '\\$&');

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", '#39': "'" };

/** With single spaces, and without the escapes of tags that some agents write. */
const plain = (text: string): string =>
  text
    .replace(/&(amp|lt|gt|quot|apos|#39);/g, (_, entity: string) => ENTITIES[entity]!)
    .replace(/\s+/g, ' ')
    .trim();

export type GatewayLimits = {
  readonly maxCalls?: number | undefined;
  /** Of input and output together. */
  readonly maxTokens?: number | undefined;
  readonly maxUsd?: number | undefined;
};

type PricedUsage = { readonly usage: Usage; readonly price: Price | undefined };

/** `usage` is what it has used so far, `most` what it may still take: nothing once it is over. `sent` counts every try. */
export type CallSpending = { usage: Usage; readonly price: Price | undefined; most: Usage; sent: number };

/**
 * Limits are checked before each call, because the cost of a call is known when it is over. So tokens and dollars are
 * exceeded by no more than the calls in flight together: by one, for an agent that makes one call at a time.
 */
export class Spending {
  readonly #limits: GatewayLimits;
  readonly #price: Price | undefined;
  readonly #calls: CallSpending[] = [];

  constructor(limits: GatewayLimits, price: Price | undefined) {
    this.#limits = limits;
    this.#price = price;
  }

  /** The limit that lets no further call pass. */
  reached(): { readonly ended: 'turns' | 'budget'; readonly amount: string } | undefined {
    const { maxCalls = Infinity, maxTokens = Infinity, maxUsd = Infinity } = this.#limits;
    const { input, output } = this.usage();
    if (this.calls >= maxCalls) return { ended: 'turns', amount: `${maxCalls} model calls` };
    if (input + output >= maxTokens) return { ended: 'budget', amount: `${maxTokens} tokens` };
    return (this.costUsd() ?? 0) >= maxUsd ? { ended: 'budget', amount: `$${maxUsd}` } : undefined;
  }

  /** Why a model cannot be asked under a limit in dollars. */
  unpriced(model: string | undefined): ModelCallError | undefined {
    const { maxUsd } = this.#limits;
    if (maxUsd === undefined || this.#priceOf(model) !== undefined) return undefined;
    const what = `the price of the model ${model ?? 'that it asked for'} is not known`;
    return new ModelCallError(`maxUsd is ${maxUsd}, but ${what}`, {
      isRetryable: false,
      isFatal: true,
      hint: 'Limit turns or tokens instead (maxTurns, maxTokens), or write the price of the model in the project file.',
    });
  }

  /** Counts a call from its start. */
  begin(model: string | undefined, most: Usage): CallSpending {
    const call = { usage: noUsage, price: this.#priceOf(model), most, sent: 0 };
    this.#calls.push(call);
    return call;
  }

  /** Generations. Limits count these: an outage must not take turns from an agent. */
  get calls(): number {
    return this.#calls.length;
  }

  get sent(): number {
    return this.#calls.reduce((sum, call) => sum + call.sent, 0);
  }

  usage(): Usage {
    return sumUsage(this.#calls);
  }

  /** Undefined when a call has no price. */
  costUsd(): number | undefined {
    return sumCost(this.#calls);
  }

  /** What was spent, and the most that calls in flight may take on top. */
  soFar(): AgentSpending {
    const all = this.#calls.flatMap(({ usage, most, price }) => [
      { usage, price },
      { usage: most, price },
    ]);
    const { input, output } = sumUsage(all);
    const most = { totalTokens: input + output, costUsd: sumCost(all) ?? 0 };
    const begun = this.#calls.filter(({ sent }) => sent > 0);
    const inFlight = begun.filter((call) => call.most !== noUsage).length;
    const answered = begun.length - inFlight;
    return { calls: this.sent, answered, inFlight, usage: this.usage(), costUsd: this.costUsd(), most };
  }

  #priceOf(model = ''): Price | undefined {
    return this.#price ?? priceOf(model);
  }
}

const sumUsage = (calls: readonly PricedUsage[]) => calls.map(({ usage }) => usage).reduce(addTokens, noUsage);

const sumCost = (calls: readonly PricedUsage[]) =>
  calls.reduce<number | undefined>((sum, { usage, price }) => {
    return sum === undefined || price === undefined ? undefined : sum + costUsd(usage, price);
  }, 0);
