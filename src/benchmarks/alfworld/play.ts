import type { ChatReply, RolloutContext, RolloutOutput } from '../../core/contracts/index.ts';
import { clip, head, plural } from '../../core/text/index.ts';
import { ask, firstMessages } from '../ask.ts';
import type { Probe } from '../benchmark.ts';
import { extractAction, FALLBACK_ACTION, projectAction, thoughtOf } from './actions.ts';
import { RULES, type Step, taskOf, turnText } from './texts.ts';
import { type Scene, WorldFailure } from './world.ts';

type Game = {
  readonly id: string;
  readonly taskType: string;
  readonly walkthrough?: readonly string[] | undefined;
};

/** One game in a process of its own. */
interface GameWorld extends AsyncDisposable {
  /** Begins the game, or begins it again, and returns its first scene. */
  begin(): Promise<Scene>;
  step(action: string): Promise<Scene>;
}

type OpenGame = (signal: AbortSignal | undefined) => Promise<GameWorld>;

type Limits = { readonly maxSteps: number; readonly maxCompletionTokens: number };

/** A step with the reply that led to it. */
type Move = Step & { readonly reply: ChatReply; readonly isNamed: boolean; readonly next: Scene };

/** One game from its first scene until it ends or the steps run out. A world that fails is an outage, and no score. */
export async function playGame(
  { item, skill, target, signal }: RolloutContext<Game>,
  open: OpenGame,
  { maxSteps, maxCompletionTokens: maxOutputTokens }: Limits,
): Promise<RolloutOutput> {
  const moves: Move[] = [];
  try {
    await using world = await open(signal);
    const first = await world.begin();
    const task = taskOf(first.observation);
    for (let scene = first; !isOver(scene) && moves.length < maxSteps; scene = moves.at(-1)!.next) {
      const question = turnText({ task, steps: moves, maxSteps, scene });
      const reply = await ask(firstMessages(skill, { rules: RULES, question }), { target, signal, maxOutputTokens });
      const extracted = extractAction(reply.text);
      const action = projectAction(extracted);
      const next = await world.step(action);
      moves.push({ observation: scene.observation, action, reply, isNamed: Boolean(extracted), next });
    }
    return resultOf({ item, task, first, moves, maxSteps });
  } catch (error) {
    if (error instanceof WorldFailure) return withoutScore(error, moves.length);
    throw error;
  }
}

const isOver = ({ done, won }: Scene) => done || won;

type Played = {
  readonly item: Game;
  readonly task: string;
  readonly first: Scene;
  readonly moves: readonly Move[];
  readonly maxSteps: number;
};

function resultOf({ item, task, first, moves, maxSteps }: Played): RolloutOutput {
  const last = moves.at(-1)?.next ?? first;
  const score = last.won ? 1 : 0;
  return {
    hard: score,
    soft: score,
    nTurns: moves.length,
    taskType: item.taskType,
    taskDescription: head(task, MOST_SHOWN),
    predictedAnswer: head(moves.map(({ action }) => action).join(' | '), MOST_SHOWN),
    conversation: [
      { role: 'user', content: clip(first.observation, MOST_SHOWN) },
      ...moves.slice(-MOST_SHOWN_MOVES).flatMap(turnsOf),
    ],
    ...(last.won ? {} : { failReason: whyLost(moves, last.done, maxSteps) }),
  };
}

/** What analysts read. Houses are of the user's making, and replies may be long. */
const MOST_SHOWN = 2_000;
const MOST_SHOWN_MOVES = 100;
const MOST_THOUGHT = 300;

function turnsOf({ reply, action, isNamed, next }: Move) {
  const thought = clip(thoughtOf(reply.text), MOST_THOUGHT);
  return [
    ...(thought === '' ? [] : [{ role: 'assistant', content: thought }]),
    {
      action: `${head(action, MOST_SHOWN)}${isNamed ? '' : ' (the reply named no action)'}`,
      env_feedback: clip(next.observation, MOST_SHOWN),
    },
  ];
}

function whyLost(moves: readonly Move[], isDone: boolean, maxSteps: number): string {
  const steps = plural(moves.length, 'step');
  const unnamed = moves.filter(({ isNamed }) => !isNamed).length;
  const cut = moves.filter(({ reply }) => reply.finishReason === 'length').length;
  return [
    isDone
      ? `the game ended after ${steps} without being won`
      : `the task was not done after ${steps}, and ${maxSteps} are allowed`,
    ...(unnamed === 0 ? [] : [`${unnamed} of ${plural(moves.length, 'reply', 'replies')} named no action`]),
    ...(cut === 0 ? [] : [`${cut} of them were cut at the token limit`]),
  ].join('; ');
}

const HINT =
  'Start the program of the setting world by hand, and send it a line: {"op":"reset","game":"PATH"}. Then start again.';

const withoutScore = ({ message }: WorldFailure, steps: number): RolloutOutput => ({
  hard: 0,
  soft: 0,
  errored: true,
  unjudged: true,
  failReason: `${message} (after ${plural(steps, 'step')})`,
  extras: { hint: HINT },
});

const IDLE_STEPS = 3;

/** Plays the known way to win, and then the same game without doing anything. */
export async function probeGame({ walkthrough }: Game, open: OpenGame, signal?: AbortSignal): Promise<Probe> {
  try {
    await using world = await open(signal);
    const idle = Array<string>(IDLE_STEPS).fill(FALLBACK_ACTION);
    const right = walkthrough === undefined ? undefined : await follow(world, walkthrough);
    const nothing = await follow(world, idle);
    return right === undefined ? { right, nothing, untried: true, problem: 'has no walkthrough' } : { right, nothing };
  } catch (error) {
    if (error instanceof WorldFailure) return { right: undefined, nothing: undefined, problem: error.message };
    throw error;
  }
}

async function follow(world: GameWorld, actions: readonly string[]): Promise<number> {
  let scene = await world.begin();
  for (const action of actions) if (!isOver(scene)) scene = await world.step(action);
  return scene.won ? 1 : 0;
}
