import { SkillError } from '../../core/contracts/index.ts';
import {
  type RunEvent,
  type RunIdentity,
  type RunState,
  toEvidence,
  toObservations,
  totalCost,
} from '../../core/run/index.ts';
import { addObservations, type Evidence, noEvidence } from '../../core/stats/index.ts';
import type { Side } from '../../report/index.ts';
import { loadRun } from '../load-run.ts';

/** The best skill of a run by what the run itself measured. */
export type RunSide = Side & {
  readonly identity: RunIdentity;
  readonly config: NonNullable<RunState['config']>;
};

/** Makes no call: what a run measured is in its journal. Throws where it has not measured that split. */
export async function runSide(path: string, name: string, split: string): Promise<RunSide> {
  let identity: RunIdentity = {};
  const watch = (event: RunEvent) => {
    if (event.type === 'run-start') identity = event.identity;
  };
  const { state } = await loadRun(path, watch);
  requireSplit(state, name, split);
  const evidence = evidenceOf(state, split);
  if (!state.config || !evidence) throw unmeasured(name, split);
  const cost = totalCost(state);
  return {
    name,
    text: state.best.skill,
    evidence,
    cost,
    version: String(identity.env),
    identity,
    config: state.config,
  };
}

/** Attempts that nothing was chosen by: the test, or the fresh ones at the end of the search. */
function evidenceOf(state: RunState, split: string): Evidence | undefined {
  const { config, testEvidence, best, gate, finalMeasurement } = state;
  if (split === 'test' || split === config?.testSplit) return testEvidence.best && toEvidence(testEvidence.best);
  if (!config || (split !== 'val' && split !== config.selectionSplit)) return undefined;
  if (best.skill === state.initialSkill) return toEvidence(gate.seed);
  if (finalMeasurement?.hash !== best.hash) return undefined;
  const scores = finalMeasurement.passes.flatMap((pass) => pass.scores);
  return addObservations(noEvidence, toObservations(scores, config));
}

function requireSplit({ config }: RunState, name: string, split: string): void {
  const { selectionSplit = 'val', testSplit = 'test' } = config ?? {};
  if (['train', 'val', 'test', selectionSplit, testSplit].includes(split)) return;
  const hint = `A run measures its best skill on ${testSplit} and ${selectionSplit} tasks: choose one of these splits.`;
  throw new SkillError('USAGE', `there is no split ${split} in ${name}`, { hint });
}

function unmeasured(name: string, split: string): SkillError {
  const hint = `Let the run end, or compare the documents themselves, which scores both: best_skill.md in the folder of each run.`;
  return new SkillError('USAGE', `${name} has not measured its best skill on ${split} tasks`, { hint });
}

const ALIKE = { target: 'target', judge: 'judge', env: 'environment' } as const;

/** What else than the skills differs between two runs: their scores differ by that, too. */
export function otherDifferences(a: RunSide, b: RunSide, split: string): string[] {
  const different = Object.entries(ALIKE).filter(([key]) => a.identity[key] !== b.identity[key]);
  const tasks = `items of ${split === a.config.testSplit ? 'test' : 'val'}`;
  const notes = different.map(
    ([key, word]) =>
      `the runs differ in more than their skills: ${word} ${a.identity[key] ?? 'none'} and ${b.identity[key] ?? 'none'}`,
  );
  const areOthers = a.identity[tasks] !== b.identity[tasks];
  return areOthers
    ? [...notes, 'the tasks of the two runs are not the same; those with the same id are compared']
    : notes;
}

/** Scores of two metrics have no difference. */
export function requireSameMetric(a: RunSide, b: RunSide): void {
  const [one, other] = [a.config.gateMetric, b.config.gateMetric];
  if (one === other) return;
  const message = `${a.name} counts ${one} scores and ${b.name} ${other} ones (gateMetric)`;
  const hint = 'Compare the documents themselves, which scores both: best_skill.md in the folder of each run.';
  throw new SkillError('USAGE', message, { hint });
}
