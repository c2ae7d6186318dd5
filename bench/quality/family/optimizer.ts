import type { Dice } from '../gate/dice.ts';
import { shuffleIndexes } from '../gate/dice.ts';
import { type FamilyEdit, type FamilySkill, type FamilyWorld, isCopy } from './world.ts';

/** What an optimizer is shown of what was tried before. */
export type Tried = { readonly edits: readonly FamilyEdit[]; readonly status: 'rejected' | 'undecided' };

export type Reading = {
  readonly skill: FamilySkill;
  /** Training tasks with what came of them. */
  readonly failed: readonly number[];
  readonly passed: readonly number[];
  readonly minibatch: number;
  /** Most edits that an analyst may propose. */
  readonly limit: number;
  readonly memory: readonly Tried[];
};

export type Pool = {
  /** Each once, in the optimizer's order. */
  readonly edits: readonly FamilyEdit[];
  /** How many analysts proposed it, by key. */
  readonly support: ReadonlyMap<string, number>;
  readonly calls: number;
  readonly tokens: number;
};

/** What a prompt has besides trajectories, what a trajectory has, and what a reply has, in tokens. */
const [PROMPT, TRAJECTORY, REPLY] = [1500, 300, 400];
const HARMFUL_SENTENCES = 12;
const HARM_SHARE = 0.2;
const SAY_ANYTHING = 0.3;
/** A copied answer looks good in the trajectory that it comes from. */
const SEEMING_WORTH_OF_COPY = 0.02;

/** An optimizer as the trainer asks it: analysts read minibatches of one kind, what they propose is merged and ranked. */
export function createFamilyOptimizer(world: FamilyWorld, dice: Dice) {
  const { spec } = world;
  const harmful = Array.from({ length: HARMFUL_SENTENCES }, (_, i): FamilyEdit => {
    return { key: `harm ${i}`, about: -1, type: 'harmful', moves: world.drawMoves(HARM_SHARE) };
  });
  let coined = 0;
  const coin = (edit: Omit<FamilyEdit, 'key'>): FamilyEdit => ({ ...edit, key: `new ${coined++}` });

  const proposeRule = (rule: number, seen: number, times: number): FamilyEdit => {
    if (spec.effects.type !== 'rules') throw new Error('not a world of rules');
    const { precision, harm, isSupportTelling } = spec.effects;
    const doubt = 0.5 ** times; // what was rejected on this rule is thought over
    const skilled = isSupportTelling ? Math.min(1, (precision * (1 - 0.5 ** seen)) / 0.75) : precision;
    if (dice.uniform() < harm * doubt) {
      return { ...harmful[Math.floor(dice.uniform() * HARMFUL_SENTENCES)]!, about: rule };
    }
    if (dice.uniform() >= 1 - (1 - skilled) * doubt) return coin({ about: rule, type: 'null' });
    const right = { about: rule, type: 'good', states: rule } as const;
    return spec.wording === 'new' || times > 0 ? coin(right) : { ...right, key: `rule ${rule}` };
  };

  const proposeBroad = (): FamilyEdit => {
    if (spec.effects.type !== 'mix') throw new Error('not a mix');
    const { good, harmful: bad, items } = spec.effects;
    const draw = dice.uniform();
    const type = draw < good ? 'good' : draw < good + bad ? 'harmful' : 'null';
    return coin({ about: -1, type, ...(type === 'null' ? {} : { moves: world.drawMoves(items) }) });
  };

  const remark = () => coin({ about: -1, type: 'null' });

  const pick = <T>(options: readonly T[]): T | undefined => options[Math.floor(dice.uniform() * options.length)];
  const happens = (chance: number) => chance > 0 && dice.uniform() < chance; // what never happens draws no dice

  /** What an analyst says in place of an idea of its own. */
  const parrot = (tasks: readonly number[], memory: readonly Tried[]): FamilyEdit | undefined => {
    if (happens(spec.repeats)) {
      const repeated = pick(memory.filter(({ status }) => status === 'rejected').flatMap(({ edits }) => edits));
      if (repeated) return repeated;
    }
    return happens(spec.copies) ? copyOf(pick(tasks)!) : undefined;
  };

  /** An analyst of few ideas has none now and then. */
  const mostEdits = (limit: number) => {
    const { editsPerAnalyst: most } = spec;
    const drawn = Math.floor(most) + Number(dice.uniform() < most - Math.floor(most));
    return Math.min(limit, drawn);
  };

  const analyse = (tasks: readonly number[], { skill, limit, memory }: Reading): FamilyEdit[] => {
    const most = mostEdits(limit);
    if (spec.effects.type === 'mix') {
      return Array.from({ length: most }, () => parrot(tasks, memory) ?? proposeBroad());
    }
    const counts = new Map<number, number>();
    for (const task of tasks)
      for (const rule of world.missing(skill, task)) counts.set(rule, (counts.get(rule) ?? 0) + 1);
    const asked = [...counts].sort((a, b) => b[1] - a[1]).slice(0, most);
    const timesOf = (rule: number) => (spec.learns ? timesRejected(rule, memory) : 0);
    const edits = asked.map(([rule, seen]) => parrot(tasks, memory) ?? proposeRule(rule, seen, timesOf(rule)));
    return edits.length === 0 && most > 0 && dice.uniform() < SAY_ANYTHING ? [remark()] : edits;
  };

  const worthOf = (edit: FamilyEdit, skill: FamilySkill) => {
    if (edit.type === 'null' || skill.keys.has(edit.key)) return 0;
    if (isCopy(edit)) return SEEMING_WORTH_OF_COPY;
    return world.truth(world.apply(skill, [edit])) - world.truth(skill);
  };

  const rank = (edits: readonly FamilyEdit[], skill: FamilySkill): FamilyEdit[] => {
    const error = spec.ranker === 'right' ? 0 : spec.ranker === 'noisy' ? 0.05 : 1e6;
    const rated = edits.map((edit) => ({ edit, worth: worthOf(edit, skill) + error * dice.normal() }));
    return rated.sort((a, b) => b.worth - a.worth).map(({ edit }) => edit);
  };

  return (reading: Reading): Pool => {
    const { failed, passed, minibatch, skill } = reading;
    const chunks = (tasks: readonly number[]) => {
      const order = shuffleIndexes(dice, tasks.length).map((place) => tasks[place]!);
      return Array.from({ length: Math.ceil(order.length / minibatch) }, (_, i) =>
        order.slice(i * minibatch, (i + 1) * minibatch),
      );
    };
    const failures = chunks(failed);
    const successes = chunks(passed);
    const proposed = [
      ...failures.flatMap((tasks) => analyse(tasks, reading)),
      ...successes.flatMap(() => (dice.uniform() < SAY_ANYTHING ? [remark()] : [])),
    ];
    const distinct = [...new Map(proposed.map((edit) => [edit.key, edit])).values()];
    const support = new Map<string, number>();
    for (const { key } of proposed) support.set(key, (support.get(key) ?? 0) + 1);
    const analysts = failures.length + successes.length;
    const others = distinct.length > 1 ? 3 : 0; // merges of both groups or one and the last, and the ranking
    const read = TRAJECTORY * (failed.length + passed.length);
    return {
      edits: rank(distinct, skill),
      support,
      calls: analysts + others,
      tokens: (PROMPT + REPLY) * (analysts + others) + read + 60 * distinct.length * others,
    };
  };
}

const copyOf = (task: number): FamilyEdit => ({ key: `copy ${task}`, about: -1, type: 'copy', copies: task });

/** What is undecided weighs half. */
function timesRejected(rule: number, memory: readonly Tried[]): number {
  let times = 0;
  for (const { edits, status } of memory) {
    for (const edit of edits) if (edit.about === rule) times += status === 'rejected' ? 1 : 0.5;
  }
  return times;
}
