import { type AgentSpending, addTokens, ModelCallError, noUsage, type Usage } from '../../core/contracts/index.ts';
import { costUsd, type Price, priceOf } from '../budget/prices.ts';

export type GatewayLimits = {
  readonly maxCalls?: number | undefined;
  /** Of input and output together. */
  readonly maxTokens?: number | undefined;
  readonly maxUsd?: number | undefined;
};

/** A limit that is reached. */
type Reached = { readonly ended: 'turns' | 'budget'; readonly message: string };

export interface Spending {
  /** The limit that lets no further call pass. */
  reached(): Reached | undefined;
  /** Why a model cannot be asked under a limit in dollars. */
  unpriced(model: string | undefined): ModelCallError | undefined;
  /** Counts a call from its start. `most` is what it may use. */
  begin(call?: { readonly model?: string | undefined; readonly most?: Usage }): CountedCall;
  calls(): number;
  usage(): Usage;
  /** Undefined when a call has no price. */
  costUsd(): number | undefined;
  /** Of all calls, with the most that those in flight may take. */
  most(): AgentSpending['most'];
}

type CountedCall = {
  /** Takes what it has used so far, and may be called again. */
  use(usage: Usage): void;
  end(): void;
};

/**
 * Limits are looked at before each call, since what one costs is known when it is over. So tokens and dollars are passed
 * by no more than the calls that were under way together: by one, for an agent that makes one at a time.
 */
export function createSpending(limits: GatewayLimits, price: Price | undefined): Spending {
  const { maxCalls = Number.POSITIVE_INFINITY, maxTokens = Number.POSITIVE_INFINITY } = limits;
  const { maxUsd = Number.POSITIVE_INFINITY } = limits;
  const priceFor = (model = '') => price ?? priceOf(model);
  const told: Told[] = [];
  const usage = () => told.map(({ usage }) => usage).reduce(addTokens, noUsage);
  const cost = () => told.reduce<number | undefined>(addCost, 0);
  return {
    reached() {
      const { input, output } = usage();
      if (told.length >= maxCalls) return { ended: 'turns', message: limitText(`${maxCalls} model calls`) };
      if (input + output >= maxTokens) return { ended: 'budget', message: limitText(`${maxTokens} tokens`) };
      return (cost() ?? 0) >= maxUsd ? { ended: 'budget', message: limitText(`$${maxUsd}`) } : undefined;
    },
    unpriced: (model) =>
      limits.maxUsd === undefined || priceFor(model) !== undefined ? undefined : noPrice(limits.maxUsd, model),
    begin({ model, most = noUsage } = {}) {
      const call: Told = { usage: noUsage, price: priceFor(model), most };
      told.push(call);
      return {
        use(used) {
          call.usage = used;
        },
        end() {
          call.most = noUsage;
        },
      };
    },
    calls: () => told.length,
    usage,
    costUsd: cost,
    most() {
      const all = told.flatMap(({ usage, most, price }) => [
        { usage, price },
        { usage: most, price },
      ]);
      const { input, output } = all.map(({ usage }) => usage).reduce(addTokens, noUsage);
      return { totalTokens: input + output, costUsd: all.reduce<number | undefined>(addCost, 0) ?? 0 };
    },
  };
}

type Priced = { readonly usage: Usage; readonly price: Price | undefined };
/** A call, with the most that it may still take: nothing once it is over. */
type Told = { usage: Usage; readonly price: Price | undefined; most: Usage };

const addCost = (sum: number | undefined, { usage, price }: Priced) =>
  sum === undefined || price === undefined ? undefined : sum + costUsd(usage, price);

const limitText = (limit: string) => `This run may use ${limit}, and they are used up. No further call is made.`;

function noPrice(maxUsd: number, model = 'that it asked for'): ModelCallError {
  return new ModelCallError(`maxUsd is ${maxUsd}, but the price of the model ${model} is not known`, {
    isRetryable: false,
    isFatal: true,
    hint: 'Limit turns or tokens instead (maxTurns, maxTokens), or write the price of the model in the project file.',
  });
}
