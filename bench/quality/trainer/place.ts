import { type ChatModel, SimpleQAEnv, type SkillEnv } from '../../../src/index.ts';
import { createWorld, simulatedOptimizer, simulatedTarget } from '../../../src/public/sim.ts';
import { rulesEnv } from '../rules-world/rules-env.ts';
import { rulesOptimizer } from '../rules-world/rules-optimizer.ts';
import { rulesTarget } from '../rules-world/rules-target.ts';
import { ruleSentence } from '../rules-world/sentences.ts';
import { trueScore } from '../rules-world/true-score.ts';
import { createRulesWorld } from '../rules-world/world.ts';
import type { Cell, WorldName } from './cells.ts';
import { NOISE, WORLD } from './setting.ts';
import { truthOf } from './truth-of.ts';

/** A world to train in, and what every skill is truly worth on its validation tasks. */
export type Place = {
  readonly env: SkillEnv;
  readonly target: ChatModel;
  readonly optimizer: ChatModel;
  readonly initialSkill: string;
  /** States all that there is to learn. */
  readonly fullSkill: string;
  readonly truth: (skill: string) => number;
};

export function placeOf(cell: Cell, seed: number): Place {
  return cell.world === 'own' ? ownPlace(cell, seed) : rulesPlace(cell, seed);
}

type CellOf<Name extends WorldName> = Extract<Cell, { world: Name }>;

function ownPlace({ group, optimizer }: CellOf<'own'>, seed: number): Place {
  const isNull = group === 'null';
  const world = createWorld({ ...WORLD, seed });
  const { items, initialSkill } = world;
  const sentences = world.rules.map(({ text }) => text);
  return {
    env: new SimpleQAEnv({ trainItems: items.train, valItems: items.val, testItems: [], initialSkill }) as SkillEnv,
    target: simulatedTarget({ noise: NOISE, nullMode: isNull, seed }),
    optimizer: simulatedOptimizer({ ...optimizer, seed }),
    initialSkill,
    fullSkill: withSentences(initialSkill, sentences),
    truth: truthOf(world, { seed, isNull, noise: NOISE }),
  };
}

function rulesPlace({ group, optimizer, noise }: CellOf<'rules'>, seed: number): Place {
  const { train, val } = WORLD;
  const world = createRulesWorld({ train, val, seed, noise, nullMode: group === 'null' });
  return {
    env: rulesEnv(world) as SkillEnv,
    target: rulesTarget(world),
    optimizer: rulesOptimizer(world, optimizer),
    initialSkill: world.initialSkill,
    fullSkill: withSentences(world.initialSkill, world.rules.map(ruleSentence)),
    truth: (skill) => trueScore(skill, world),
  };
}

const withSentences = (skill: string, sentences: readonly string[]) =>
  [skill, ...sentences.map((sentence) => `- ${sentence}`)].join('\n');
