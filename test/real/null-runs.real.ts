import type { ChatModel, SkillEnv, SkillOptConfigInput } from 'skillopt';
import { describe, expect, it } from 'vitest';
import { classifyEnv, type Message } from '../../examples/classify/classify-env.ts';
import { type Proposal, proposeRemark, REMARKS } from '../../examples/classify/proposals.ts';
import { believedTooMuch } from './believed-too-much.ts';
import { mean, percent, points, report } from './figures.ts';
import { blindToNotes, invisibleNotes } from './invisible-notes.ts';
import { chat, steady, train, val, whyMissing } from './real-task.ts';
import { trueScore } from './rollouts.ts';
import { type Step, type TrainerRun, trainerRun } from './trainer-run.ts';

/** Scripted proposals learn nothing from training messages, so that few are enough. */
const fewToTrain: SkillEnv<Message> = {
  ...classifyEnv,
  getItems: (split) => (split === 'train' ? train.slice(0, 8) : classifyEnv.getItems(split)),
};

type Gate = { readonly name: string; readonly config: SkillOptConfigInput & { proposalsPerBatch: number } };

const DEFAULT: Gate = { name: 'default', config: { proposalsPerBatch: 4 } };
const STRICT: Gate = { name: 'strict', config: { proposalsPerBatch: 4, gate: 'strict' } };

type Plan = {
  readonly target: ChatModel;
  readonly proposalsOf: (number: number) => Proposal[];
  readonly first: number;
  readonly count: number;
};

/** Whole runs from a skill that no gate has chosen. No edit comes twice in a run: it would meet the same draws again. */
async function runAll({ target, proposalsOf, first, count }: Plan, { config }: Gate): Promise<TrainerRun[]> {
  const runs: TrainerRun[] = [];
  for (let number = first; number < first + count; number++) {
    const proposals = proposalsOf(number);
    const plan = { target, proposals, number, initialSkill: steady, env: fewToTrain };
    const numEpochs = proposals.length / config.proposalsPerBatch;
    runs.push(await trainerRun({ ...plan, config: { ...config, numEpochs, evalTest: false } }));
  }
  return runs;
}

const decidedIn = (runs: readonly TrainerRun[]) => runs.flatMap(({ steps }) => steps).filter((step) => step.isDecided);
const acceptRate = (steps: readonly Step[]) => steps.filter((step) => step.isAccepted).length / steps.length;

describe.skipIf(whyMissing !== undefined)(`null runs on a real model${whyMissing ? ` (${whyMissing})` : ''}`, () => {
  it('seldom accept a remark that has nothing to do with the task', async () => {
    const proposalsOf = (number: number) => rotate(REMARKS, number).slice(0, 8).map(proposeRemark);
    const plan = { target: chat, proposalsOf, first: 1000, count: 40 };
    const { ours, strict } = await compareGates('Remarks in whole runs', plan, (skill) => trueScore(chat, skill, val));
    expect(decidedIn(ours).length).toBeGreaterThanOrEqual(150);
    expect(acceptRate(decidedIn(ours))).toBeLessThan(acceptRate(decidedIn(strict)));
  });

  it('seldom accept an edit that the model does not see, and hardly ever claim a gain from it', async () => {
    const notes = invisibleNotes(20);
    const plan = { target: blindToNotes(chat), proposalsOf: () => notes, first: 2000, count: 40 };
    const { ours, strict } = await compareGates('Nothing changes at all', plan, () => trueScore(chat, steady, val));
    expect(decidedIn(ours).length).toBeGreaterThanOrEqual(150);
    expect(acceptRate(decidedIn(ours))).toBeLessThan(acceptRate(decidedIn(strict)));
    expect(ours.filter(({ final }) => final.isClaimed).length).toBeLessThanOrEqual(ours.length / 8);
  });
});

type Truth = (skill: string) => Promise<number>;

async function compareGates(title: string, plan: Plan, truth: Truth) {
  const [ours, strict] = [await runAll(plan, DEFAULT), await runAll(plan, STRICT)];
  report(title, [
    ...(await describeRuns(DEFAULT.name, ours, truth)),
    ...(await describeRuns(STRICT.name, strict, truth)),
  ]);
  return { ours, strict };
}

async function describeRuns(name: string, runs: readonly TrainerRun[], truth: Truth): Promise<string[]> {
  const steps = decidedIn(runs);
  const classes = new Map<string, Step[]>();
  for (const step of steps) {
    const kind = kindOf((await truth(step.candidate)) - (await truth(step.incumbent)));
    classes.set(kind, [...(classes.get(kind) ?? []), step]);
  }
  const { scores, gains } = await excessOfReports(runs, truth);
  const share = (some: readonly Step[]) => `${percent(acceptRate(some))} of ${some.length}`;
  return [
    `**${name}**: ${runs.length} runs, accepted ${share(steps)}, ${mean(steps.map(({ rollouts }) => rollouts)).toFixed(1)} rollouts each;`,
    ...[...classes].sort().map(([kind, some]) => `true change ${kind}: ${share(some)};`),
    `${await believedTooMuch(runs, truth)};`,
    `reported − true, points: score ${points(mean(scores))}, gain of the ${gains.length} winners ${points(mean(gains))};`,
    `${runs.filter(({ final }) => final.isClaimed).length} runs claim a gain`,
    '',
  ];
}

/** By how much a run's final measurement is above the truth. The seed skill has no gain over itself. */
async function excessOfReports(runs: readonly TrainerRun[], truth: Truth) {
  const [scores, gains]: [number[], number[]] = [[], []];
  const before = await truth(steady);
  for (const { final, skill } of runs) {
    const after = await truth(skill);
    scores.push(final.score!.value - after);
    if (final.gain) gains.push(final.gain.value - (after - before));
  }
  return { scores, gains };
}

function kindOf(change: number): string {
  if (Math.abs(change) <= 0.01) return 'within 1 point';
  return change > 0 ? 'better by more than 1 point' : 'worse by more than 1 point';
}

function rotate<T>(list: readonly T[], by: number): T[] {
  return list.map((_, index) => list[(index + by) % list.length]!);
}
