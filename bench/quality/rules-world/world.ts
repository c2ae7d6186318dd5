import { createDraw, type Draw } from '../../../src/sim/draw.ts';

export type RulesWorldOptions = {
  readonly seed: number;
  /** How often a task fails although the skill states all that it needs. */
  readonly noise: number;
  /** No text changes anything: each task has odds of its own, and every text draws again. */
  readonly nullMode?: boolean;
  readonly rules?: number;
  readonly train?: number;
  readonly val?: number;
};

export type Task = {
  readonly id: string;
  /** Names the rules that it needs: who reads a failure can tell what was missing. */
  readonly question: string;
  readonly needs: readonly string[];
  /** The chance to succeed while a needed rule is missing. */
  readonly luck: number;
  /** The chance to succeed in null mode. */
  readonly odds: number;
};

export type RulesWorld = Required<Pick<RulesWorldOptions, 'seed' | 'noise' | 'nullMode'>> & {
  /** What there is to learn, by code word. */
  readonly rules: readonly string[];
  readonly tasks: { readonly train: readonly Task[]; readonly val: readonly Task[] };
  readonly initialSkill: string;
  /** Ids of the tasks that a harmful sentence spoils. */
  spoiledBy(harm: number): ReadonlySet<string>;
};

const WORDS =
  'ravel tarn mallow birch cobalt dapple ember fennel gorse hazel indigo juniper kelp larch mica nettle ochre pewter quartz rowan sorrel teasel umber willow'.split(
    ' ',
  );

const LUCK = { least: 0.05, most: 0.3 };
const SPOILED_SHARE = 1 / 5;

const INITIAL_SKILL = `---
name: jobs
description: How jobs are done here. Use it for every job.
---

# Jobs

Do the job as it is asked for.
`;

/** Jobs that need one or two hidden rules each, and sentences that spoil some of them. Equal options give equal worlds. */
export function createRulesWorld(options: RulesWorldOptions): RulesWorld {
  const { seed, noise, nullMode = false, rules: count = 12, train = 80, val = 40 } = options;
  const draw = createDraw(seed, ['rules world']);
  const rules = inDrawnOrder(WORDS, draw, (word) => word).slice(0, count);
  const tasks = {
    train: makeTasks(train, { split: 'train', rules, draw, first: 1 }),
    val: makeTasks(val, { split: 'val', rules, draw, first: 1 + train }),
  };
  return { seed, noise, nullMode, rules, tasks, initialSkill: INITIAL_SKILL, spoiledBy: spoiling(tasks, draw) };
}

function inDrawnOrder<Thing>(things: readonly Thing[], draw: Draw, nameOf: (thing: Thing) => string): Thing[] {
  const placed = things.map((thing) => ({ thing, place: draw(`place of ${nameOf(thing)}`) }));
  return placed.sort((a, b) => a.place - b.place).map(({ thing }) => thing);
}

type Making = {
  readonly split: string;
  readonly rules: readonly string[];
  readonly draw: Draw;
  /** Jobs are numbered over both splits, so that no two are asked alike. */
  readonly first: number;
};

function makeTasks(count: number, making: Making): Task[] {
  return Array.from({ length: count }, (_, index) => makeTask(index, making));
}

/** Rules go round, once for tasks that need one and once for those that need two, so that none is rare. */
function makeTask(index: number, { split, rules, draw, first }: Making): Task {
  const id = `${split}-${String(index + 1).padStart(3, '0')}`;
  const rule = rules[Math.floor(index / 2) % rules.length]!;
  const others = rules.filter((other) => other !== rule);
  const second = index % 2 === 0 ? undefined : others[Math.floor(draw(`${id} second`) * others.length)];
  const needs = second === undefined ? [rule] : [rule, second];
  const luck = LUCK.least + (LUCK.most - LUCK.least) * draw(`${id} luck`);
  return {
    id,
    question: `Job ${first + index} calls for ${needs.join(' and ')}.`,
    needs,
    luck,
    odds: draw(`${id} odds`),
  };
}

/** A fifth of each split, so that what spoils in training spoils as much in validation. */
function spoiling(tasks: RulesWorld['tasks'], draw: Draw): RulesWorld['spoiledBy'] {
  const known = new Map<number, ReadonlySet<string>>();
  const fifth = (split: readonly Task[], harm: number) =>
    inDrawnOrder(split, draw, ({ id }) => `${id} under harm ${harm}`).slice(
      0,
      Math.round(SPOILED_SHARE * split.length),
    );
  return (harm) => {
    const spoiled =
      known.get(harm) ?? new Set([tasks.train, tasks.val].flatMap((split) => fifth(split, harm)).map(({ id }) => id));
    known.set(harm, spoiled);
    return spoiled;
  };
}
