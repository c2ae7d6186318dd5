import { setImmediate as turn } from 'node:timers/promises';
import {
  type ChatModel,
  type ChatRequest,
  memoryRun,
  type Progress,
  type RunEvent,
  SimpleQAEnv,
  type SkillOptConfigInput,
  SkillOptTrainer,
  skillHash,
  type TrainerOptions,
  toFact,
} from 'skillopt';
import { createWorld, simulatedOptimizer, simulatedTarget } from 'skillopt/sim';

const SIZES = { train: 16, val: 12, test: 6, topics: 6 };

/** A call, or an attempt of a task, as the far side sees it: `start val-3`, `end merge`. */
type Seen = { readonly at: 'start' | 'end'; readonly what: string };

type Played = {
  readonly config?: SkillOptConfigInput;
  readonly store?: TrainerOptions['store'];
  readonly options?: Partial<TrainerOptions>;
  /** Turns of the event loop that a call takes. */
  readonly turns?: (request: ChatRequest, what: string) => number;
  /** Is called before the target answers about a task. It may throw. */
  readonly onTask?: (id: string) => unknown;
  /** Is notified when a call begins. */
  readonly onStart?: (what: string) => unknown;
  /** Whether the seed says all that there is to learn, and nothing slips. */
  readonly isPerfect?: boolean;
  readonly seed?: number;
};

/** So many turns that calls end in another order than they began. The request alone decides. */
export const uneven = (request: ChatRequest) =>
  Number.parseInt(skillHash(JSON.stringify([request.messages, request.sampleIndex])).slice(0, 6), 16) % 23;

/** A run in the simulated world in which every call takes its time, with all that its far side saw. */
export async function play({
  config,
  options,
  turns = () => 0,
  onTask,
  onStart,
  isPerfect,
  seed = 3,
  ...given
}: Played) {
  const store = given.store ?? memoryRun();
  const { items, initialSkill: start, rules } = createWorld({ ...SIZES, seed });
  const initialSkill = isPerfect ? [start, ...rules.map(({ text }) => `- ${text}`)].join('\n') : start;
  const all = Object.values(items).flat();
  const seen: Seen[] = [];
  const progress: Progress[] = [];
  const events: RunEvent[] = [];
  const slow = (model: ChatModel): ChatModel => ({
    ...model,
    async complete(request) {
      const asked = request.messages.map(({ content }) => content).join('\n');
      const what =
        request.stage === 'rollout' ? all.find(({ question }) => asked.includes(question))!.id : kindOf(request);
      seen.push({ at: 'start', what });
      onStart?.(what);
      for (let left = turns(request, what); left > 0; left--) await turn();
      if (request.stage === 'rollout') await onTask?.(what);
      const reply = await model.complete(request);
      seen.push({ at: 'end', what });
      return reply;
    },
  });
  const trainer = new SkillOptTrainer({
    env: new SimpleQAEnv({ trainItems: items.train, valItems: items.val, testItems: items.test, initialSkill }),
    target: slow(simulatedTarget({ noise: isPerfect ? 0 : 0.2, seed })),
    optimizer: slow(simulatedOptimizer({ precision: 0.6, harmfulRate: 0.2, seed })),
    promptOverrides: NAMED,
    ...options,
    observers: [{ onProgress: (one) => void progress.push(one), onEvent: (event) => void events.push(event) }],
    config: { numEpochs: 1, batchSize: 8, minibatchSize: 2, maxRetries: 0, workers: 4, seed, ...config },
    store,
  });
  const error = await trainer.train().then(
    () => undefined,
    (reason) => reason,
  );
  const journal = await store.read();
  return { error, seen, progress, events, store, facts: journal.map(toFact), calls: seen.filter(isStart).length };
}

const isStart = ({ at }: Seen) => at === 'start';

/** `analyst failed`, `merge_failure`. */
function kindOf({ stage = '', messages }: ChatRequest): string {
  const [system, user] = messages.map(({ content }) => content);
  if (stage === 'analyst') return `analyst ${/\d+ (failed|succeeded)/.exec(user!)?.[1]}`;
  return stage === 'merge' ? system! : stage;
}

/** Prompts that are their own names. The simulated optimizer reads only what follows them. */
const MERGES = ['merge_failure', 'merge_success', 'merge_final'] as const;
const NAMED = Object.fromEntries(MERGES.map((name) => [name, name]));

/** Whether something whose name begins with `early` began while something of the name `late` was under way. */
export function beganBeside(seen: readonly Seen[], early: string, late: string): boolean {
  let underWay = 0;
  return seen.some(({ at, what }) => {
    if (what.startsWith(late)) underWay += at === 'start' ? 1 : -1;
    return at === 'start' && what.startsWith(early) && underWay > 0;
  });
}
