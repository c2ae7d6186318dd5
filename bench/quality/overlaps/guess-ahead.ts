import { setImmediate as turn } from 'node:timers/promises';
import type { ChatModel, ChatReply, ChatRequest, Item, RunObserver, SkillOptConfig } from '../../../src/index.ts';
import { planEpoch } from '../../../src/train/plan.ts';

export type GuessOptions<Task extends Item = Item> = {
  readonly workers: number;
  readonly config: SkillOptConfig;
  readonly items: { readonly train: readonly Task[]; readonly val: readonly Task[] };
  /** The call that an attempt of a task under a skill makes. */
  readonly requestOf: (task: Task, skill: string) => ChatRequest;
  /** What is asked before the run asks for it, where a slot is free. */
  readonly guesses: Readonly<Record<'batches' | 'waves' | 'passes', boolean>>;
};

/** The trainer numbers the calls within a draw; the next draw begins so much later. */
const DRAW = 1000;

/**
 * Speculation, as a trainer could do it: while the optimizer thinks, the next batch is attempted under the current skill; beside
 * the first wave of a race, the second one; beside that, the second pass. Guesses take slots that nothing else wants. The run finds
 * their answers, if it asks.
 */
export function guessAhead<Task extends Item>({ workers, config, items, requestOf, guesses }: GuessOptions<Task>) {
  const slots = createSlots(workers);
  const answers = new Map<string, Promise<ChatReply>>();
  let [batch, firstDraws]: [string, Set<string>] = ['', new Set()];
  let candidate = '';

  const wrap = (model: ChatModel): ChatModel => ({
    ...model,
    complete: (request) => slots.take(() => model.complete(request)),
  });
  const wrapTarget = (target: ChatModel): ChatModel => {
    const begin = (request: ChatRequest) => {
      const answer = target.complete(request);
      answers.set(keyOf(request), answer);
      return answer;
    };
    guess = (tasks, skill, draw) => {
      for (const task of tasks) {
        const request = { ...requestOf(task, skill), sampleIndex: draw * DRAW };
        slots.offer(() => (answers.has(keyOf(request)) ? undefined : begin(request)));
      }
    };
    return {
      ...target,
      async complete(request) {
        const known = answers.get(keyOf(request));
        noteAsked(keyOf(request));
        return known ?? slots.take(() => answers.get(keyOf(request)) ?? begin(request));
      },
    };
  };
  let guess: (tasks: readonly Task[], skill: string, draw: number) => void = () => {};

  /** Once every task was asked for, the last wave is under way: a second pass may follow. */
  const noteAsked = (key: string) => {
    if (firstDraws.delete(key) && firstDraws.size === 0 && guesses.passes) guess(items.val, candidate, 1);
  };
  const observer: RunObserver = {
    onEvent(event, state) {
      if (event.type === 'step-start') batch = event.itemIds[0]!;
      if (event.type !== 'stage-end') return;
      slots.forget();
      if (event.stage === 'rollout' && guesses.batches) {
        guess(nextBatch(state.draft.epoch ?? 1, batch, { config, items }), state.current.skill, 0);
      }
      if (event.stage === 'update' && event.candidateHash !== state.current.hash) {
        candidate = event.candidateSkill;
        firstDraws = new Set(items.val.map((task) => keyOf(requestOf(task, candidate))));
        if (guesses.waves) guess(items.val, candidate, 0);
      } else firstDraws = new Set();
    },
  };
  return { wrap, wrapTarget, observer };
}

const keyOf = ({ messages, sampleIndex = 0 }: ChatRequest) => JSON.stringify([messages, sampleIndex]);

/** The batch that is read after this one, unless a proposal is accepted. */
function nextBatch<Task extends Item>(
  epoch: number,
  first: string,
  plan: Pick<GuessOptions<Task>, 'config' | 'items'>,
) {
  const batchesOf = (of: number) =>
    planEpoch(of, plan).groups.map((group) => group.flatMap((one) => one.items as readonly Task[]));
  const batches = batchesOf(epoch);
  const place = batches.findIndex(([task]) => task?.id === first);
  return batches[place + 1] ?? (epoch < plan.config.numEpochs ? batchesOf(epoch + 1)[0]! : []);
}

/** What is taken comes first; an offer gets a slot only if nothing wants it even after a while, and may be void by then. */
function createSlots(count: number) {
  const taken: (() => void)[] = [];
  let offered: (() => Promise<unknown> | undefined)[] = [];
  let free = count;
  const serve = () => {
    for (; free > 0 && taken.length > 0; free--) taken.shift()!();
    if (free > 0 && offered.length > 0) void serveOffers();
  };
  /** The run asks for its next call some turns of the event loop after one was answered. */
  const serveOffers = async () => {
    await turn();
    await turn();
    while (free > 0 && offered.length > 0) {
      const work = offered.shift()!();
      if (!work) continue;
      free--;
      void work.finally(release);
    }
  };
  const release = () => {
    free++;
    serve();
  };
  return {
    async take<Answer>(work: () => Promise<Answer>): Promise<Answer> {
      await new Promise<void>((begin) => {
        taken.push(begin);
        serve();
      });
      return work().finally(release);
    },
    offer(work: () => Promise<unknown> | undefined) {
      offered.push(work);
      serve();
    },
    /** Offers that have no slot yet are void. */
    forget() {
      offered = [];
    },
  };
}
