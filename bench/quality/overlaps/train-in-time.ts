import {
  type ChatModel,
  type ChatRequest,
  memoryRun,
  parseConfig,
  type RunStore,
  SimpleQAEnv,
  SkillOptTrainer,
  skillHash,
} from '../../../src/index.ts';
import { createWorld, simulatedOptimizer, simulatedTarget } from '../../../src/public/sim.ts';
import { normalQuantile } from '../../../src/public/stats.ts';
import { NOISE } from '../trainer/setting.ts';
import { OPTIMIZER } from '../wall-clock/setting.ts';
import { guessAhead } from './guess-ahead.ts';
import { createVirtualClock } from './virtual-clock.ts';

const WORLD = { train: 80, val: 40, test: 80 };
const OPTIMIZER_SECONDS = 25;

const NONE = { batches: false, waves: false, passes: false };

/** `in turn` has a limit that it never reaches, under which nothing overlaps. */
export const WAYS = {
  'in turn': { limits: { maxCalls: 1_000_000 }, guesses: NONE },
  overlaps: { limits: {}, guesses: NONE },
  'and next batches': { limits: {}, guesses: { ...NONE, batches: true } },
  'and second waves': { limits: {}, guesses: { ...NONE, waves: true } },
  'and second passes': { limits: {}, guesses: { ...NONE, passes: true } },
  'and all three': { limits: {}, guesses: { batches: true, waves: true, passes: true } },
} as const;
export type Way = keyof typeof WAYS;

type Timing = { readonly way: Way; readonly seed: number; readonly workers: number; readonly rolloutSeconds: number };

/** Trains with today's defaults in the simulated world. Time is counted, not spent. */
export async function trainInTime({ way, seed, workers, rolloutSeconds }: Timing) {
  const clock = createVirtualClock();
  const { items, initialSkill } = createWorld({ ...WORLD, seed });
  const env = new SimpleQAEnv({ trainItems: items.train, valItems: items.val, testItems: items.test, initialSkill });
  const { limits, guesses } = WAYS[way];
  const config = parseConfig({ workers, seed, ...limits });
  const store = memoryRun();
  let rollouts = 0;
  const slow = (model: ChatModel, mean: number, onCall = () => {}): ChatModel => ({
    ...model,
    async complete(request) {
      onCall();
      await clock.sleep(mean * latencyOf(request, seed));
      return model.complete(request);
    },
  });
  const splits = { train: env.getItems('train'), val: env.getItems('val') };
  const guesser = guessAhead({ workers, config, items: splits, requestOf: callOf(env), guesses });
  const trainer = new SkillOptTrainer({
    config,
    env,
    target: guesser.wrapTarget(slow(simulatedTarget({ noise: NOISE, seed }), rolloutSeconds, () => rollouts++)),
    optimizer: guesser.wrap(slow(simulatedOptimizer({ ...OPTIMIZER, seed }), OPTIMIZER_SECONDS)),
    store: countingLooks(store),
    observers: [guesser.observer],
  });
  await trainer.train();
  const ends = store.events.flatMap((event) => (event.type === 'step-end' ? [event.action] : []));
  const accepted = ends.filter((action) => action.startsWith('accept')).length;
  return { minutes: clock.now() / 60, rollouts, steps: ends.length, accepted };
}

/** As a share of the mean: a gamma distribution whose deviation is 0.6 of its mean. The request alone decides. */
function latencyOf({ messages, sampleIndex = 0 }: ChatRequest, seed: number): number {
  const hash = skillHash(JSON.stringify([messages, sampleIndex, seed]));
  const chance = (Number.parseInt(hash.slice(0, 12), 16) + 0.5) / 16 ** 12;
  const shape = 1 / 0.6 ** 2;
  return Math.max(0.01, 1 - 1 / (9 * shape) + normalQuantile(chance) / (3 * Math.sqrt(shape))) ** 3; // Wilson and Hilferty
}

/** The call that an attempt makes: it is asked for, and never answered. */
const callOf = (env: SimpleQAEnv) => (item: QaItem, skill: string) => {
  let call: ChatRequest | undefined;
  const complete: ChatModel['complete'] = (request) => {
    call = request;
    return new Promise(() => {});
  };
  void env.rolloutOne({
    item,
    skill,
    target: { id: 'nobody', complete },
    extras: {},
    signal: new AbortController().signal,
  });
  return call!;
};

type QaItem = ReturnType<SimpleQAEnv['getItems']>[number];

/** A look at the test tasks is counted beside the journal, as in a folder: then the test may begin beside the final passes. */
const countingLooks = (store: RunStore): RunStore => ({
  ...store,
  open: async (options) => Object.assign(await store.open(options), { lookAtTest: async () => 1 }),
});
