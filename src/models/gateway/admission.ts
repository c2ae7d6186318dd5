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
import type { GenerationCall } from './read-call.ts';
import { failureTold } from './relay-call.ts';

/** A limit that is reached, or a provider that failed. */
export type GatewayEnd = 'turns' | 'budget' | 'failure';

type Admission = {
  readonly spending: ReturnType<typeof createSpending>;
  readonly allows: ((model: string) => boolean) | undefined;
  readonly skills: readonly NamedSkill[];
  readonly onEnd: ((reason: GatewayEnd) => void) | undefined;
};

/** Which calls may pass, and what was seen of them. */
export function openAdmission({ spending, allows, skills, onEnd }: Admission) {
  const models = new Set<string>();
  const refused = new Map<string, number>();
  let first: FirstRequest | undefined;
  let failure: ModelCallError | undefined;
  let ended: 'turns' | 'budget' | undefined;

  function end(reason: GatewayEnd, error?: ModelCallError): void {
    const isFirst = ended === undefined && failure === undefined;
    if (reason === 'failure') failure ??= error;
    else ended ??= reason;
    if (isFirst) onEnd?.(reason);
  }

  function fail(error: ModelCallError): Fault {
    end('failure', error);
    return failureTold(error);
  }

  function refuseModel(name: string): Fault {
    refused.set(name, (refused.get(name) ?? 0) + 1);
    return {
      status: 400,
      message: `The model ${name} is not the one of this run, and is not asked. No call was made.`,
    };
  }

  /** By what was spent, or because the provider has failed before. */
  function stop({ model }: GenerationCall): Fault | undefined {
    if (failure !== undefined) return failureTold(failure);
    const limit = spending.reached();
    if (limit !== undefined) {
      end(limit.ended);
      return { status: 400, message: limit.message };
    }
    const unpriced = spending.unpriced(model);
    return unpriced && fail(unpriced);
  }

  return {
    /** Why a call may not pass. */
    refuse(call: GenerationCall): Fault | undefined {
      const { model, body, dialect } = call;
      if (allows?.(model ?? '') === false) return refuseModel(model ?? '(none)');
      if (first === undefined || first.tools.length === 0) first = readFirstRequest(body, dialect, skills);
      const fault = stop(call);
      if (fault === undefined && model !== undefined) models.add(model);
      return fault;
    },
    fail,
    seen: {
      ended: () => ended,
      failure: () => failure,
      offered: () => first?.offered ?? [],
      tools: () => first?.tools ?? [],
      models: () => [...models],
      refused: () => Object.fromEntries(refused),
    },
  };
}

/** What keeps an agent waiting, from its first call on. */
export function watchSilence(name: string) {
  let silence: ModelCallError | undefined;
  return {
    silence: () => silence,
    begin() {
      silence = new ModelCallError(`${name} has not answered at all`);
    },
    onAnswer() {
      silence = undefined;
    },
    onSilence(error: ModelCallError) {
      silence = error;
    },
  };
}

/** What the model was told before the agent did anything. */
type FirstRequest = { readonly tools: readonly string[]; readonly offered: readonly OfferedSkill[] };

export type NamedSkill = { readonly name: string; readonly description: string };

function readFirstRequest(body: Json, dialect: GatewayDialect, skills: readonly NamedSkill[]): FirstRequest {
  const tools = dialect.toolNames(body).filter((name) => name !== undefined);
  const texts = textsIn(body);
  const said = plain(texts.join('\n'));
  return { tools, offered: skills.flatMap((skill) => offerOf(skill, said, texts)) };
}

/** Texts as the model reads them: of system prompts, messages, descriptions of tools and what their arguments may be. */
function textsIn(value: Json): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

function offerOf({ name, description }: NamedSkill, said: string, texts: readonly string[]): OfferedSkill[] {
  const told = descriptionTold(plain(description), said);
  if (told !== 'none') return mentions(name, texts) ? [{ name, description: told }] : [];
  return isListed(name, texts) ? [{ name, description: 'none' }] : [];
}

/** A beginning that is shorter may be another skill's as well. */
const SHORTEST_CUT = 24;

function descriptionTold(description: string, said: string): 'whole' | 'cut' | 'none' {
  if (description !== '' && said.includes(description)) return 'whole';
  const beginning = description.slice(0, SHORTEST_CUT);
  return beginning.length === SHORTEST_CUT && said.includes(beginning) ? 'cut' : 'none';
}

const mentions = (name: string, texts: readonly string[]) =>
  texts.some((text) => new RegExp(`(?<![\\w-])${escaped(name)}(?![\\w-])`).test(text));

/** In the ways in which agents list names, and not in a sentence of a user's: a point, a tag, a path, one of the values of an argument. */
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

/** With one space between words, and without the escapes of the tags that some agents put around. */
function plain(text: string): string {
  return text
    .replace(/&(amp|lt|gt|quot|apos|#39);/g, (_, entity: string) => ENTITIES[entity]!)
    .replace(/\s+/g, ' ')
    .trim();
}

export type GatewayLimits = {
  readonly maxCalls?: number | undefined;
  /** Of input and output together. */
  readonly maxTokens?: number | undefined;
  readonly maxUsd?: number | undefined;
};

/** A limit that is reached. */
type ReachedLimit = { readonly ended: 'turns' | 'budget'; readonly message: string };

/**
 * Limits are looked at before each call, since what one costs is known when it is over. So tokens and dollars are passed
 * by no more than the calls that were under way together: by one, for an agent that makes one at a time.
 */
export function createSpending(limits: GatewayLimits, price: Price | undefined) {
  const { maxCalls = Number.POSITIVE_INFINITY, maxTokens = Number.POSITIVE_INFINITY } = limits;
  const { maxUsd = Number.POSITIVE_INFINITY } = limits;
  const priceFor = (model = '') => price ?? priceOf(model);
  const told: CallSpending[] = [];
  const usage = () => told.map(({ usage }) => usage).reduce(addTokens, noUsage);
  const cost = () => told.reduce<number | undefined>(addCost, 0);
  return {
    /** The limit that lets no further call pass. */
    reached(): ReachedLimit | undefined {
      const { input, output } = usage();
      if (told.length >= maxCalls) return { ended: 'turns', message: limitText(`${maxCalls} model calls`) };
      if (input + output >= maxTokens) return { ended: 'budget', message: limitText(`${maxTokens} tokens`) };
      return (cost() ?? 0) >= maxUsd ? { ended: 'budget', message: limitText(`$${maxUsd}`) } : undefined;
    },
    /** Why a model cannot be asked under a limit in dollars. */
    unpriced: (model: string | undefined) =>
      limits.maxUsd === undefined || priceFor(model) !== undefined ? undefined : noPrice(limits.maxUsd, model),
    /** Counts a call from its start. `most` is what it may use. */
    begin({ model, most = noUsage }: { readonly model?: string | undefined; readonly most?: Usage } = {}) {
      const call: CallSpending = { usage: noUsage, price: priceFor(model), most };
      told.push(call);
      return {
        /** Takes what it has used so far, and may be called again. */
        use(used: Usage) {
          call.usage = used;
        },
        end() {
          call.most = noUsage;
        },
      };
    },
    calls: () => told.length,
    usage,
    /** Undefined when a call has no price. */
    costUsd: cost,
    /** Of all calls, with the most that those in flight may take. */
    most(): AgentSpending['most'] {
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
type CallSpending = { usage: Usage; readonly price: Price | undefined; most: Usage };

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
