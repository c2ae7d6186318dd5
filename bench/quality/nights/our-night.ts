import { nextError, type TestedNight } from '../../../src/core/stats/index.ts';
import { groupBy } from '../../../src/core/text/index.ts';
import { assignSplits } from '../../../src/public/sleep.ts';
import { archiveTasks, consolidate, prepareTasks, type TaskRecord } from '../../../src/sleep/index.ts';
import { withLearned } from '../../../src/sleep/replay/sleep-env.ts';
import { countCalls } from './count-calls.ts';
import type { NightRunner } from './runner.ts';

type Kept = { readonly archive: readonly TaskRecord[]; readonly nights: readonly TestedNight[] };
const nothingKept: Kept = { archive: [], nights: [] };

const isUnnamed = ({ skillHint }: TaskRecord) => skillHint === '';
const toSkill = (tasks: readonly TaskRecord[]) => ({ name: tasks[0]!.skillHint, text: '', tasks });

/** A night as `skillopt sleep run` spends it, from mined tasks on, with its defaults. */
export const ourNight: NightRunner = async ({ person, day, state, documents, seed }) => {
  const { archive, nights } = (state.kept as Kept | undefined) ?? nothingKept;
  const mined = person.tasksOf(day);
  const isSplit = mined.some(({ split }) => split !== 'train');
  const split = isSplit ? mined : assignSplits(mined, { seed, earlier: archive });
  const ownerOf = ({ skillHint }: TaskRecord) => skillHint;
  const { tasks, tonight } = prepareTasks(split, archive, { recallK: 10, dreamFactor: 0 }, { ownerOf });
  const [own, named] = [tasks.filter(isUnnamed), tasks.filter((task) => !isUnnamed(task))];
  const texts = withLearned(
    withLearned({ skill: '', memory: '' }, 'skill', state.blocks.skill),
    'memory',
    state.blocks.memory,
  );
  const models = countCalls(person);
  const night = await consolidate(models, own, texts, {
    error: nextError(nights),
    others: groupBy(named, ({ skillHint }) => skillHint).map(toSkill),
    evolveSkill: documents.includes('skill'),
    evolveMemory: documents.includes('memory'),
    config: { seed, workers: 64 },
  });
  const taken = night.documents.filter(({ isTaken }) => isTaken);
  const isTested = night.documents.some(({ proof }) => proof !== undefined);
  return {
    staged: taken.map(({ trained, block, proof }) => ({ document: trained, block, gain: proof?.gain.value ?? null })),
    calls: models.calls(),
    kept: {
      archive: archiveTasks(archive, tonight),
      nights: isTested ? [...nights, { isProven: taken.length > 0 }] : nights,
    },
  };
};
