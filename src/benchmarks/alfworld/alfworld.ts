import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { plural } from '../../core/text/index.ts';
import { MOST_OUTPUT_TOKENS } from '../ask.ts';
import type { Attempts, Benchmark, OpenOptions } from '../benchmark.ts';
import { listIn } from '../settings.ts';
import { TASK_TYPES } from './actions.ts';
import { findGameRows, readGameRow } from './games.ts';
import { playGame, probeGame } from './play.ts';
import { INITIAL_SKILL, REPEATED_STEPS, RULES, turnText } from './texts.ts';
import { openWorld, WorldFailure } from './world.ts';

const positive = z.coerce.number().int().positive();
const word = z.string().min(1);

const Settings = z.object({
  maxSteps: positive.default(50),
  maxCompletionTokens: positive.default(MOST_OUTPUT_TOKENS),
  /** Seconds of silence after which a world counts as dead. */
  stepTimeout: z.coerce.number().positive().max(86_400).default(60),
  /** The program that plays the games, as words. Names of files start at the project's folder. */
  world: z
    .union(
      [z.string().transform((text) => listIn(text) ?? text.trim().split(/\s+/)), z.array(word).min(1)],
      'expected a program and its arguments, as one text or as a list of words',
    )
    .default(() => ['python3', OUR_WORLD()]),
});
type Settings = z.output<typeof Settings>;

const OUR_WORLD = () => fileURLToPath(new URL('./alfworld-world.py', import.meta.url));

const Game = z.object({
  id: word,
  /** The path of its file below a data folder. */
  game: word,
  gameSha256: z.string().regex(/^[0-9a-f]{64}$/),
  taskType: z.enum([...TASK_TYPES, 'other']),
  /** A way to win. Used to try the scoring, and shown to no model. */
  walkthrough: z.array(z.string()).min(1).optional(),
});
type Game = z.output<typeof Game>;

export const alfworld: Benchmark<Game, Settings> = {
  name: 'alfworld',
  title: 'ALFWorld: household tasks in a world of text',
  source: {
    get: [
      'Install the package: pip install alfworld. Fetch the games with its program alfworld-download.',
      'They are then in ~/.cache/alfworld, or in $ALFWORLD_DATA: name that folder as extras.dataRoot.',
    ],
    licence: 'MIT (ALFWorld); made from the data of ALFRED',
  },
  published: { train: 39, val: 18, test: 134 },
  initialSkill: INITIAL_SKILL,
  settings: Settings,
  item: Game,
  hint: 'A row is {"gamefile": "json_2.1.1/train/TASK/TRIAL/game.tw-pddl"}, and that file lies below extras.dataRoot.',
  readRow: ({ value }, { files }) => readGameRow(value, files),
  findRows: findGameRows,
  groupsOf: ({ gameSha256 }) => [`game ${gameSha256}`],
  questionOf: ({ gameSha256 }) => gameSha256,
  goldOf: () => 'won',
  open: openAttempts,
};

function openAttempts({ settings, files }: OpenOptions<Settings>): Attempts<Game> {
  const { maxSteps, maxCompletionTokens, stepTimeout } = settings;
  const { command, sha256 } = findProgram(settings.world, files.roots);
  const running = new Set<AsyncDisposable>();
  const opening = (game: string) => async (signal: AbortSignal | undefined) => {
    const path = await files.pathOf(game).catch(({ message }: Error) => Promise.reject(new WorldFailure(message)));
    const world = await openWorld({ command, answerMs: stepTimeout * 1000, signal });
    running.add(world);
    return {
      begin: () => world.reset(path),
      step: world.step,
      async [Symbol.asyncDispose]() {
        await world[Symbol.asyncDispose]();
        running.delete(world);
      },
    };
  };
  return {
    rule: `won within ${plural(maxSteps, 'step')} (hard and soft)`,
    version: `1, steps ${maxSteps}, output ${maxCompletionTokens}, world ${sha256.slice(0, 12)}`,
    targetCalls: { low: 1, high: maxSteps },
    prompt: `${RULES}\n\n${turnText(SAMPLE_TURN)}`,
    attempt: (context) => playGame(context, opening(context.item.game), settings),
    probe: (item, signal) => probeGame(item, opening(item.game), signal),
    async close() {
      await Promise.all([...running].map((world) => world[Symbol.asyncDispose]()));
    },
  };
}

/** A turn as the target reads it, for the hash of the prompt. */
const SAMPLE_TURN = {
  task: 'TASK',
  steps: Array.from({ length: REPEATED_STEPS + 1 }, () => ({ observation: 'OBSERVATION', action: 'ACTION' })),
  maxSteps: 0,
  scene: { observation: 'OBSERVATION', admissible: ['ACTION'] },
};

/** Larger files are data or programs, not scripts. */
const MOST_SCRIPT_BYTES = 1_000_000;

/**
 * The program, with the names of files below the data folders as paths, and a hash of its words and of the content of its
 * scripts. A program that is named without a folder is looked up as the shell does.
 */
function findProgram(words: readonly string[], roots: readonly string[]) {
  const hash = createHash('sha256');
  const command = words.map((one, index) => {
    const isBare = index === 0 && !/[\\/]/.test(one);
    const path = isBare
      ? undefined
      : roots.map((root) => resolve(root, one)).find((path) => sizeOf(path) !== undefined);
    const isScript = index > 0 && path !== undefined && sizeOf(path)! <= MOST_SCRIPT_BYTES;
    hash.update(isScript ? readFileSync(path) : one).update('\0');
    return path ?? one;
  });
  return { command, sha256: hash.digest('hex') };
}

/** `undefined` if it is not a file. Links are followed, and yet kept in the command: by its link a Python finds its packages. */
function sizeOf(path: string): number | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found?.isFile() ? found.size : undefined;
}
