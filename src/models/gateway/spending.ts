import { SkillError } from '../../core/errors.ts';
import { addTokens, noUsage, type Usage } from '../../core/model.ts';
import { costUsd, type Price } from '../budget/prices.ts';

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
  /** Counts a call from its start. The returned function takes what it has used so far, and may be called again. */
  begin(): (usage: Usage) => void;
  calls(): number;
  usage(): Usage;
  /** Undefined without a price. */
  costUsd(): number | undefined;
}

/**
 * Limits are looked at before each call, since what one costs is known when it is over. So tokens and dollars are passed
 * by no more than the calls that were under way together: by one, for an agent that makes one at a time.
 */
export function createSpending(limits: GatewayLimits, price: Price | undefined): Spending {
  if (limits.maxUsd !== undefined && price === undefined) throw unpriced(limits.maxUsd);
  const { maxCalls = Number.POSITIVE_INFINITY, maxTokens = Number.POSITIVE_INFINITY } = limits;
  const { maxUsd = Number.POSITIVE_INFINITY } = limits;
  const told: Usage[] = [];
  const usage = () => told.reduce(addTokens, noUsage);
  const cost = () => (price === undefined ? undefined : costUsd(usage(), price));
  return {
    reached() {
      const { input, output } = usage();
      if (told.length >= maxCalls) return { ended: 'turns', message: limitText(`${maxCalls} model calls`) };
      if (input + output >= maxTokens) return { ended: 'budget', message: limitText(`${maxTokens} tokens`) };
      return (cost() ?? 0) >= maxUsd ? { ended: 'budget', message: limitText(`$${maxUsd}`) } : undefined;
    },
    begin() {
      const place = told.push(noUsage) - 1;
      return (used) => {
        told[place] = used;
      };
    },
    calls: () => told.length,
    usage,
    costUsd: cost,
  };
}

const limitText = (limit: string) => `This run may use ${limit}, and they are used up. No further call is made.`;

function unpriced(maxUsd: number): SkillError {
  return new SkillError('CONFIG_INVALID', `maxUsd is ${maxUsd}, but the price of the model is not known`, {
    hint: 'Give the price, in dollars per million tokens, or limit tokens instead.',
  });
}
