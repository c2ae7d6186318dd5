// A simulator as an environment: games are made from seeds, and a batch of them is played at once.
import assert from 'node:assert/strict';
import { PythonRandom, parseConfig } from 'skillopt';
import { type AdapterContext, adapterEnv, EnvAdapter } from 'skillopt/envs';
import { scripted } from 'skillopt/testing';

type Game = { readonly secret: number; low: number; high: number; turns: number; isWon: boolean };

/** Find a number from 1 to 50 in six guesses, told after each whether it was too low or too high. */
class GuessTheNumber extends EnvAdapter<Game[]> {
  override readonly name = 'guess-the-number';
  override readonly episodes = { train: 8, val: 6, test: 6 };

  buildTrainEnv(batchSize: number, seed: number): Game[] {
    const dice = new PythonRandom(seed);
    const deal = () => ({ secret: 1 + dice.randBelow(50), low: 1, high: 50, turns: 0, isWon: false });
    return Array.from({ length: batchSize }, deal);
  }

  buildEvalEnv(envNum: number, split: string, seed: number): Game[] {
    return this.buildTrainEnv(envNum, seed + (split === 'test' ? 10_000 : 0));
  }

  /** All games take their turn together. Results come in the order of the games. */
  async rollout(games: Game[], skill: string, { target, signal }: AdapterContext) {
    for (let turn = 1; turn <= 6; turn++) {
      const open = games.filter((game) => !game.isWon);
      await Promise.all(open.map(async (game) => guess(game, await ask(game))));
    }
    return games.map(({ isWon, turns, secret }, index) => ({
      id: index,
      hard: isWon,
      soft: isWon ? 1 / turns : 0,
      n_turns: turns,
      task_type: secret > 25 ? 'upper half' : 'lower half',
      ...(isWon ? {} : { fail_reason: `${secret} was not found in ${turns} guesses` }),
    }));

    async function ask({ low, high }: Game): Promise<number> {
      const messages = [
        { role: 'system' as const, content: skill },
        { role: 'user' as const, content: `The number is between ${low} and ${high}. Your guess?` },
      ];
      return Number((await target.complete({ messages, signal })).text);
    }
  }

  getTaskTypes() {
    return ['lower half', 'upper half'];
  }
}

function guess(game: Game, number: number): void {
  game.turns++;
  game.isWon = number === game.secret;
  if (number < game.secret) game.low = number + 1;
  if (number > game.secret) game.high = number - 1;
}

// A stand-in that counts upwards, until it is told to halve.
const target = scripted('target', ({ messages: [system, user] }) => {
  const [low, high] = user!.content.match(/\d+/g)!.map(Number);
  return String(system!.content.includes('the middle') ? Math.floor((low! + high!) / 2) : low);
});

const env = adapterEnv(new GuessTheNumber());
await env.setup(parseConfig({ batchSize: 4, seed: 42 }));

async function winRate(skill: string): Promise<number> {
  const items = await env.getItems('val');
  const context = { items, skill, target, extras: {}, signal: new AbortController().signal };
  const results = await env.rolloutMany({ ...context, phase: 'eval', sampleIndex: 0 });
  return results.reduce((sum, result) => sum + result.hard, 0) / results.length;
}

const [before, after] = [await winRate('Guess a number.'), await winRate('Always guess the middle of the range.')];
console.log(`games won: ${before} → ${after}`);
assert(before < 0.5, 'counting upwards seldom gets there in time');
assert.equal(after, 1, 'halving always does');

const train = await env.getItems('train');
assert.deepEqual(train[0], { id: 'train-43-0', split: 'train', seed: 43, index: 0, batchSize: 4 });
assert.equal(train.length, 8);
await env.close();
