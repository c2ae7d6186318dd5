import { beforeAll, describe, expect, it } from 'vitest';
import { scriptedProposals } from '../../examples/classify/proposals.ts';
import { addObservations, estimateGain, noEvidence } from '../../src/public/stats.ts';
import { believedTooMuch } from './believed-too-much.ts';
import { percent, points, report, withInterval } from './figures.ts';
import { chat, test, train, val, whyMissing } from './real-task.ts';
import { passes, trueScore } from './rollouts.ts';
import { type Step, type TrainerRun, trainerRun } from './trainer-run.ts';

/** The first is reported step by step, the others beside it. */
const RUNS = 2;
const runs: TrainerRun[] = [];

describe.skipIf(whyMissing !== undefined)(`whole runs on a real model${whyMissing ? ` (${whyMissing})` : ''}`, () => {
  beforeAll(async () => {
    for (let number = 0; number < RUNS; number++) {
      runs.push(await trainerRun({ target: chat, proposals: scriptedProposals(train), number }));
    }
  }, 3_600_000);

  it('train a skill that beats the empty one on messages it has never seen, with the interval to prove it', async () => {
    const run = runs[0]!;
    const onTest = await gainOnTest(run);
    report('A trained skill', [...(await headOf(run, onTest)), '', ...(await stepTable(run))]);
    expect(run.final.isClaimed).toBe(true);
    expect(onTest.interval.low).toBeGreaterThan(0);
  });

  it('accept harmful proposals less often than useful ones, and in the first run none', async () => {
    report('All trained skills', await allRuns());
    const steps = runs.flatMap((run) => run.steps);
    const rate = (intent: Intent) => accepted(steps, intent).length / offered(steps, intent).length;
    expect(accepted(runs[0]!.steps, 'harmful')).toEqual([]);
    expect(rate('harmful')).toBeLessThan(rate('useful'));
  });
});

/** Draws of their own, three of each message under each skill. */
async function gainOnTest({ skill }: TrainerRun) {
  const evidenceOf = async (text: string) =>
    addObservations(noEvidence, await passes(chat, text, test, { from: 0, count: 3 }));
  return estimateGain(await evidenceOf(skill), await evidenceOf(''))!;
}

type Gain = Awaited<ReturnType<typeof gainOnTest>>;

const gainWords = ({ final: { gain, isClaimed } }: Pick<TrainerRun, 'final'>) =>
  gain ? `${withInterval(gain)}, ${isClaimed ? 'claimed' : 'not proven'}` : 'the empty skill won';

async function headOf({ steps, skill, end, rollouts, leaks, final, tests }: TrainerRun, onTest: Gain) {
  const inGate = steps.reduce((sum, step) => sum + step.rollouts, 0);
  const truth = async (text: string, items: typeof val) => percent(await trueScore(chat, text, items));
  return [
    `${steps.length} proposals, ${rollouts} rollouts in all, ${inGate} of them of candidates in the gate; ${leaks} leaks refused;`,
    `the gate believes ${percent(end.believed)} on validation, true are ${await truth(end.skill, val)};`,
    `true on validation: ${await truth('', val)} → ${await truth(skill, val)};`,
    `final measurement: ${gainWords({ final })};`,
    `score ${percent(final.score!.value)} (${percent(final.score!.interval.low)} to ${percent(final.score!.interval.high)});`,
    `the run's own test: ${percent(tests.baseline!.hard)} → ${percent(tests.best!.hard)};`,
    `test, ${test.length} messages, 3 passes each: ${withInterval(onTest)};`,
    `true on test: ${await truth('', test)} → ${await truth(skill, test)}.`,
  ];
}

async function stepTable({ steps }: TrainerRun): Promise<string[]> {
  const rows: string[] = [];
  for (const [index, { proposal, outcome, rollouts, ...step }] of steps.entries()) {
    const change = step.isAccepted ? points(await trueChange(step)) : '';
    rows.push(`| ${index + 1} | ${proposal.name} | ${proposal.intent} | ${outcome} | ${rollouts} | ${change} |`);
  }
  return [
    '| step | proposal | meant as | verdict | rollouts | true change, points |',
    '|---|---|---|---|---|---|',
    ...rows,
  ];
}

const trueChange = async ({ candidate, incumbent }: Pick<Step, 'candidate' | 'incumbent'>) =>
  (await trueScore(chat, candidate, val)) - (await trueScore(chat, incumbent, val));

type Intent = Step['proposal']['intent'];

const offered = (steps: readonly Step[], intent: Intent) =>
  steps.filter((step) => step.isDecided && step.proposal.intent === intent);
const accepted = (steps: readonly Step[], intent: Intent) => offered(steps, intent).filter((step) => step.isAccepted);

async function allRuns(): Promise<string[]> {
  const rows: string[] = [];
  for (const [number, run] of runs.entries()) {
    const counts = (['useful', 'useless', 'harmful'] as const).map(
      (intent) => `${accepted(run.steps, intent).length} of ${offered(run.steps, intent).length}`,
    );
    const gain = (await trueScore(chat, run.skill, val)) - (await trueScore(chat, '', val));
    const onTest = withInterval(await gainOnTest(run));
    const tooMuch = points(run.end.believed - (await trueScore(chat, run.end.skill, val)));
    rows.push(
      `| ${number} | ${counts.join(' | ')} | ${run.rollouts} | ${gainWords(run)} | ${points(gain)} | ${onTest} | ${tooMuch} |`,
    );
  }
  return [
    '| run | useful accepted | useless | harmful | rollouts | final gain on validation | true gain | test, 3 passes | believed − true |',
    '|---|---|---|---|---|---|---|---|---|',
    ...rows,
    '',
    ...(await acceptLines()),
    await believedTooMuch(runs, (skill) => trueScore(chat, skill, val)),
  ];
}

async function acceptLines(): Promise<string[]> {
  const lines: string[] = [];
  for (const [number, { steps }] of runs.entries()) {
    for (const step of steps.filter((each) => each.isAccepted)) {
      lines.push(
        `run ${number} accepted "${step.proposal.name}", true change ${points(await trueChange(step))} points;`,
      );
    }
  }
  return lines;
}
