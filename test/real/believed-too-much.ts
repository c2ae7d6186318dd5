import { mean, points } from './figures.ts';
import type { Belief, TrainerRun } from './trainer-run.ts';

type Truth = (skill: string) => Promise<number>;

/** By how much the gate believes more of the skill it has than is true: right after accepts, and at the end of runs. */
export async function believedTooMuch(runs: readonly TrainerRun[], truth: Truth): Promise<string> {
  const onAccept = await excesses(
    runs.flatMap(({ accepts }) => accepts),
    truth,
  );
  const atEnd = await excesses(
    runs.map(({ end }) => end),
    truth,
  );
  const after =
    onAccept.length === 0 ? 'no accepts' : `${points(mean(onAccept))} right after ${onAccept.length} accepts`;
  return `believed − true, points: ${after}, ${points(mean(atEnd))} at the end of ${runs.length} runs`;
}

async function excesses(beliefs: readonly Belief[], truth: Truth): Promise<number[]> {
  const differences: number[] = [];
  for (const { skill, believed } of beliefs) differences.push(believed - (await truth(skill)));
  return differences;
}
