import { type Dice, drawBeta } from '../gate/dice.ts';
import { trueScore } from '../gate/stream.ts';
import type { WorldSpec } from './world-spec.ts';

/** A task: what it needs, how it goes by luck without that, and how often it slips with it. */
type Task = { readonly needs: readonly number[]; readonly luck: number; readonly slip: number; readonly rate: number };
/** What is shipped is judged on fresh tasks, which no search ever sees. */
type Split = 'val' | 'train' | 'fresh';
type Moves = Readonly<Record<Split, Uint8Array>>;

/** What an optimizer may propose. Equal keys are equal words. */
export type FamilyEdit = {
  readonly key: string;
  /** The rule it is about, right or wrong; −1 if none. */
  readonly about: number;
  /** A `copy` says the answer of a training task; a `clash` is no line, but what two lines do to each other. */
  readonly type: 'good' | 'harmful' | 'null' | 'copy' | 'clash';
  readonly states?: number;
  /** The training task whose answer it is. */
  readonly copies?: number;
  /** Which tasks it moves, and by how much; drawn with the edit. */
  readonly moves?: Moves;
};

/** A search may refuse such an edit: that it holds a training answer can be seen without a rollout. */
export const isCopy = ({ type }: FamilyEdit): boolean => type === 'copy';

/** A document: what it says, and the chance of success that it gives each task. */
export type FamilySkill = {
  readonly id: number;
  readonly edits: readonly FamilyEdit[];
  readonly keys: ReadonlySet<string>;
  readonly rates: Readonly<Record<'val' | 'train', Float64Array>>;
};

export type FamilyWorld = {
  readonly spec: WorldSpec;
  readonly seedSkill: FamilySkill;
  /** The document with the edits in it; what it says already is not said twice. */
  apply(skill: FamilySkill, edits: readonly FamilyEdit[], isMerge?: boolean): FamilySkill;
  /** The document without some of its edits. */
  remove(skill: FamilySkill, edits: readonly FamilyEdit[]): FamilySkill;
  /** Rules that a training task needs and the document does not state. */
  missing(skill: FamilySkill, trainTask: number): readonly number[];
  /** The mean of infinitely many rollouts on validation. */
  truth(skill: FamilySkill, places?: readonly number[]): number;
  /** The same on fresh tasks: what the document is worth to those who use it. */
  freshTruth(skill: FamilySkill): number;
  drawMoves(share: number): Moves;
};

const HARMED = 0.1;
const FRESH_TASKS = 300;

/** Fresh tasks have dice of their own, so that they change nothing of what a search sees. */
export function createFamilyWorld(spec: WorldSpec, dice: Dice, freshDice: Dice): FamilyWorld {
  const tasks = {
    val: drawTasks(spec.n, spec, dice),
    train: drawTasks(spec.train, spec, dice),
    fresh: drawTasks(FRESH_TASKS, spec, freshDice),
  };
  const drawMoves = (share: number) => ({
    val: drawSubset(spec.n, share, dice),
    train: drawSubset(spec.train, share, dice),
    fresh: drawSubset(FRESH_TASKS, share, freshDice),
  });
  let lastId = 0;
  const build = (edits: readonly FamilyEdit[]): FamilySkill => ({
    id: lastId++,
    edits,
    keys: new Set(edits.map(({ key }) => key)),
    rates: { val: ratesOf('val', edits, tasks.val, spec), train: ratesOf('train', edits, tasks.train, spec) },
  });
  const statedBy = (skill: FamilySkill) => new Set(skill.edits.map(({ states }) => states));
  return {
    spec,
    seedSkill: build([]),
    apply(skill, edits, isMerge = false) {
      const news = edits.filter(
        ({ key }, index) => !skill.keys.has(key) && edits.findIndex((e) => e.key === key) === index,
      );
      if (news.length === 0) return skill;
      const clash = isMerge && dice.uniform() < spec.clash ? [spoil(drawMoves(0.1))] : [];
      return build([...skill.edits, ...news, ...clash]);
    },
    remove(skill, edits) {
      const gone = new Set(edits.map(({ key }) => key));
      return build(skill.edits.filter(({ key }) => !gone.has(key)));
    },
    missing(skill, trainTask) {
      const stated = statedBy(skill);
      return tasks.train[trainTask]!.needs.filter((rule) => !stated.has(rule));
    },
    truth: ({ rates: { val } }, places) =>
      trueScore(spec.kind, places ? Float64Array.from(places, (place) => val[place]!) : val),
    freshTruth: (skill) => trueScore(spec.kind, ratesOf('fresh', skill.edits, tasks.fresh, spec)),
    drawMoves,
  };
}

let clashes = 0;
const spoil = (moves: Moves): FamilyEdit => ({
  key: `clash ${clashes++}`,
  about: -1,
  type: 'clash',
  moves,
});

const drawSubset = (count: number, share: number, dice: Dice) =>
  Uint8Array.from({ length: count }, () => Number(dice.uniform() < share));

function drawTasks(count: number, { effects, noise }: WorldSpec, dice: Dice): Task[] {
  const drawNeeds = (rules: number) => {
    const first = Math.floor(dice.uniform() * rules);
    const second = Math.floor(dice.uniform() * rules);
    return dice.uniform() < 0.5 || second === first ? [first] : [first, second];
  };
  return Array.from({ length: count }, () => {
    const slip = noise === 'mixed' ? drawBeta(dice, 0.6, 0.9) / 2 : noise;
    const chance = 0.05 + 0.25 * dice.uniform();
    const luck = noise === 0 ? Number(dice.uniform() < chance) : chance; // without noise luck is a matter of the task
    if (effects.type === 'mix') return { needs: [], luck, slip, rate: startRate(noise, dice) };
    const isSettled = dice.uniform() < effects.settled;
    return { needs: isSettled ? [] : drawNeeds(effects.rules), luck, slip, rate: 0 };
  });
}

/** Where tasks have rates of their own, some hardly waver and some do nothing else. */
function startRate(noise: WorldSpec['noise'], dice: Dice): number {
  if (noise === 'mixed') return drawBeta(dice, 0.6, 0.4);
  return dice.uniform() < 0.6 ? 1 - noise : noise;
}

function ratesOf(split: Split, edits: readonly FamilyEdit[], tasks: readonly Task[], spec: WorldSpec): Float64Array {
  const active = spec.isNull ? [] : edits;
  const stated = new Set(active.map(({ states }) => states));
  const start = (task: Task) => {
    if (spec.effects.type === 'mix') return task.rate;
    return task.needs.every((rule) => stated.has(rule)) ? 1 - task.slip : task.luck;
  };
  const rates = Float64Array.from(tasks, start);
  for (const edit of active) if (edit.moves) move(rates, edit, edit.moves[split], spec);
  if (split === 'train') for (const { copies } of edits) if (copies !== undefined) rates[copies] = 1;
  return rates;
}

/** Broad edits shift what they move; a steady task goes from one side to the other. A harmful sentence spoils. */
function move(rates: Float64Array, { type }: FamilyEdit, moves: Uint8Array, { effects, noise }: WorldSpec): void {
  for (let i = 0; i < rates.length; i++) {
    if (!moves[i]) continue;
    if (effects.type === 'rules') rates[i]! *= HARMED;
    else if (noise === 'mixed') rates[i] = clip(rates[i]! + (type === 'good' ? effects.shift : -effects.shift));
    else rates[i] = type === 'good' ? 1 - noise : noise;
  }
}

const clip = (rate: number) => Math.min(1, Math.max(0, rate));
