import { splitItems } from '../../../src/envs/index.ts';
import { memoryRun, SimpleQAEnv, SkillOptTrainer } from '../../../src/index.ts';
import {
  createWorld,
  simulatedOptimizer,
  simulatedTarget,
  type World,
  worldSkillFolder,
} from '../../../src/public/sim.ts';
import { type DraftRow, draftTasks, openDrafter, withoutRepeated } from '../../../src/tasks/index.ts';
import { trueScore } from '../true-score.ts';
import { countGood, type Good } from './count-good.ts';
import { DRAFTER, TASKS } from './setting.ts';

type Task = {
  readonly id: string;
  readonly question: string;
  readonly answers: readonly string[];
  readonly taskType: string;
};

export type Drafted = Good & {
  readonly kept: number;
  readonly calls: number;
  /** What training on true tasks, and on drafted ones, gains on the world's own test tasks, in points. */
  readonly trueGain: number;
  readonly draftedGain: number;
};

/** Drafts tasks in the world of a seed, checks them as `tasks check` does, and trains on them and on as many true ones. */
export async function draftInWorld({ seed }: { readonly seed: number }): Promise<Drafted> {
  const world = createWorld({ seed, train: TASKS, val: 0, test: 60 });
  const { rows, calls } = await draft(world, seed);
  const drafted = rows.map(({ question, answers = [], taskType }, index) => ({
    id: `d${index}`,
    question,
    answers,
    taskType,
  }));
  const kept = checked(drafted);
  return {
    ...{ ...countGood(kept, world), kept: kept.length, calls },
    trueGain: await gainFrom(world.items.train, world, seed),
    draftedGain: await gainFrom(kept, world, seed),
  };
}

async function draft(world: World, seed: number) {
  const folder = worldSkillFolder(world);
  const files = [{ path: 'examples.md', text: folder['examples.md'] }];
  using drafter = openDrafter({ model: simulatedOptimizer({ ...DRAFTER, seed }) });
  const rows: DraftRow[] = [];
  const subject = { skill: folder['SKILL.md'], files, hasJudge: false, n: TASKS, rows: [] };
  await draftTasks(
    { ...subject, reading: `${folder['SKILL.md']}\n\n${folder['examples.md']}` },
    { stages: drafter.stages, keep: async (good) => void rows.push(...good) },
  );
  const calls = Object.values(drafter.takeUsage().usage ?? {}).reduce((sum, { replies }) => sum + replies, 0);
  return { rows, calls };
}

function checked(tasks: readonly Task[]): Task[] {
  const marks = { split: 'train', isUnreviewed: true, isDoubtful: false } as const;
  const stay = withoutRepeated(tasks.map((task) => ({ ...task, ...marks, scoredBy: JSON.stringify(task.answers) })));
  return tasks.filter(({ id }) => stay.has(id));
}

async function gainFrom(tasks: readonly Task[], world: World, seed: number): Promise<number> {
  const items = tasks.map(({ id, question, answers, taskType }) => ({ id, question, answers, taskType }));
  const { train, val, test } = splitItems(
    items.map((value) => ({ value, where: value.id })),
    { seed }, // of the world: with one seed for all, one shuffle would decide which kinds true tasks can teach
  );
  const { initialSkill } = world;
  const trainer = new SkillOptTrainer({
    config: { seed },
    env: new SimpleQAEnv({ trainItems: train, valItems: val, testItems: test, initialSkill }),
    target: simulatedTarget({ seed }),
    optimizer: simulatedOptimizer({ seed }),
    store: memoryRun(),
  });
  const { bestSkill } = await trainer.train();
  const scoreOf = (skill: string) =>
    100 *
    trueScore(
      skill,
      world,
      0.02,
      world.items.test.map(({ taskType }) => taskType),
    );
  return scoreOf(bestSkill) - scoreOf(initialSkill);
}
