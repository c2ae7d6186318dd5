import type { ChatModel } from '../../../src/core/contracts/index.ts';
import type { PersonTask } from '../../../src/public/sim.ts';
import { createDraw } from '../../../src/sim/draw.ts';
import { proposingModel } from '../../../src/sim/person/optimizer.ts';
import { noisy } from '../../../src/sim/person/simulated-person.ts';
import { createSimulatedModel, textOf } from '../../../src/sim/simulated-model.ts';
import type { NightPerson } from './runner.ts';

/** What the one edit does that is ever proposed: nothing, 17 points on every task, or 50 on every third. */
export type Effect = 'none' | 'spread' | 'third';
export const RULE = 'Begin every answer with the order number.';

const JUDGE_SD = 0.15;
const [VALIDATION, TRAINING] = [14, 14];

type Options = {
  readonly seed: number;
  readonly effect: Effect;
  /** Names of skills, each with as many tasks of its own. Default: none is named. */
  readonly skills?: readonly string[] | undefined;
};

/** Tasks of which nothing but their level is known, and one edit. All noise is the judge's. */
export function oneChangePerson({ seed, effect, skills = [''] }: Options): NightPerson {
  const tasks = skills.flatMap((skillHint, place) =>
    Array.from({ length: VALIDATION + TRAINING }, (_, at) => {
      const split = at < VALIDATION ? ('val' as const) : ('train' as const);
      return { ...toTask(seed, place * (VALIDATION + TRAINING) + at), split, skillHint };
    }),
  );
  const levels = tasks.map((_, number) => levelsOf(seed, effect, number));
  const levelOf = (number: number, hasRule: boolean) => levels[number]![hasRule ? 'after' : 'before'];
  return {
    tasksOf: () => tasks,
    target: target(seed, levelOf),
    judge: judge(seed),
    optimizer: optimizer(seed, effect),
    trueScore: (skill, memory) => {
      const hasRule = `${skill}\n${memory}`.includes(RULE);
      const validation = tasks.flatMap(({ split }, number) => (split === 'val' ? [levelOf(number, hasRule)] : []));
      return validation.reduce((sum, level) => sum + level, 0) / validation.length;
    },
  };
}

/** The first third's levels are lower, so that they can rise by 50 points. */
function levelsOf(seed: number, effect: Effect, number: number) {
  const shift = 0.2 * (createDraw(seed, ['level'])(String(number)) - 0.5);
  if (effect === 'none') return { before: 0.7 + shift, after: 0.7 + shift };
  if (effect === 'spread') return { before: 0.6 + shift, after: 0.77 + shift };
  const isMoved = number % 3 === 0;
  return { before: (isMoved ? 0.35 : 0.7) + shift / 2, after: (isMoved ? 0.85 : 0.7) + shift / 2 };
}

const NUMBER = /order (\d+)/;

/** Words of its own for each, so that no two tasks are taken for one. */
function toTask(seed: number, number: number): Omit<PersonTask, 'split' | 'skillHint'> {
  const draw = createDraw(seed, ['words', String(number)]);
  const words = Array.from({ length: 6 }, (_, at) => Math.floor(draw(String(at)) * 1e9).toString(36));
  return {
    id: `order_${number}`,
    project: '~/rig',
    intent: `Describe order ${number}: ${words.join(' ')}`,
    contextExcerpt: '',
    system: '',
    attemptedSolution: '',
    outcome: 'fail',
    referenceKind: 'rubric',
    reference: 'The answer is as good as can be.',
    judge: {},
    tags: [],
    sourceSessions: [`session-${number}`],
    origin: 'real',
    derivedFrom: '',
  };
}

const line = { latencyMs: 0, failureRate: 0 };

function target(seed: number, levelOf: (number: number, hasRule: boolean) => number): ChatModel {
  return createSimulatedModel({
    id: `one-change-target seed=${seed}`,
    seed,
    ...line,
    answer({ messages }, draw) {
      const number = Number(textOf(messages, 'user').match(NUMBER)?.[1] ?? 0);
      const hasRule = messages.some(({ content }) => content.includes(RULE));
      return `Level ${levelOf(number, hasRule).toFixed(4)}, wording ${Math.floor(draw('wording') * 1e9)}.`;
    },
  });
}

function judge(seed: number): ChatModel {
  return createSimulatedModel({
    id: `one-change-judge seed=${seed}`,
    seed,
    ...line,
    answer({ messages }, draw) {
      const level = Number(textOf(messages, 'user').match(/Level ([\d.]+),/)?.[1] ?? 0);
      return JSON.stringify({ reason: 'it could be better', score: noisy(level, JUDGE_SD, draw) });
    },
  });
}

/** Proposes its one rule where it is not yet, and else advice that is new each time and changes nothing. */
function optimizer(seed: number, effect: Effect): ChatModel {
  return proposingModel({
    id: `one-change-optimizer seed=${seed} ${effect}`,
    seed,
    propose({ skill, surroundings }, draw) {
      const isNew = effect !== 'none' && !`${skill}\n${surroundings}`.includes(RULE);
      const remark = `Keep remark ${Math.floor(draw('remark') * 1e9)} in mind.`;
      return [{ content: isNew ? RULE : remark, support: 1, why: 'it could be better' }];
    },
    mine: () => ({ tasks: [] }),
  });
}
