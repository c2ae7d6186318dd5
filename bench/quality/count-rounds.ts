import { setImmediate as turn } from 'node:timers/promises';
import type { ChatModel } from '../../src/index.ts';

/** As many turns of the event loop without a new call, and nothing else moves: a run in memory waits for calls alone. */
const QUIET_TURNS = 5;

type RoundClock = {
  /** The same model, whose calls wait for the end of their round. */
  wrap(model: ChatModel): ChatModel;
  rounds(): number;
};

/**
 * A clock without time: all calls that are under way are answered together once no other is made, and that is a round. So
 * many latencies a run takes at least, with the workers it has. For runs in memory: a disk would be taken for silence.
 */
export function createRoundClock(): RoundClock {
  let waiting: (() => void)[] = [];
  let rounds = 0;
  const endRound = async () => {
    for (let seen = 0; seen < waiting.length; ) {
      seen = waiting.length;
      for (let turns = 0; turns < QUIET_TURNS; turns++) await turn();
    }
    const answered = waiting;
    waiting = [];
    rounds++;
    for (const answer of answered) answer();
  };
  const nextRound = () =>
    new Promise<void>((resolve) => {
      if (waiting.push(resolve) === 1) void endRound();
    });
  return {
    wrap: (model) => ({
      ...model,
      async complete(request) {
        await nextRound();
        return model.complete(request);
      },
    }),
    rounds: () => rounds,
  };
}
