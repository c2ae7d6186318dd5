// Writes the journal of a run that nobody has the time for: made-up steps, but the lines that a run would write.
import { createWriteStream, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { emptyRun, parseConfig, type RunEvent, type RunFact, type RunState, reduce, skillHash } from 'skillopt';
import { type Evaluation, type ItemScore, shuffle } from '../src/core/contracts/index.ts';
import { journalLines, noStageUsage } from '../src/core/run/index.ts';
import { runDirectory } from '../src/stores/index.ts';

export type LongJournal = {
  readonly path: string;
  readonly steps: number;
  /** Validation tasks; each step meets all of them, in an order of its own. */
  readonly tasks: number;
  /** Training tasks of a step. */
  readonly batch: number;
  /** The share of the steps after which the state was kept: 1 at the end of a run, less when it was killed after that. */
  readonly keptAt?: number;
};

const EDITS_PER_STEP = 4;
const STEPS_PER_EPOCH = 20;
/** One step in so many is accepted. */
const ACCEPTED = 25;

export async function writeLongJournal({ path, steps, tasks, batch, keptAt }: LongJournal): Promise<void> {
  mkdirSync(dirname(path), { recursive: true });
  const { write } = journalLines();
  let state = emptyRun;
  const lineOf = (fact: RunFact) => {
    const event = stamp(fact);
    state = reduce(state, event);
    return `${write(event)}\n`;
  };
  function* linesOf(first: number, last: number) {
    for (let step = first; step <= last; step += 1) yield* stepFacts(step, { tasks, batch }).map(lineOf);
  }
  const keptSteps = Math.round(steps * (keptAt ?? 0));
  await appendLines(path, opening({ steps, tasks, batch }).map(lineOf));
  await appendLines(path, linesOf(1, keptSteps));
  if (keptAt !== undefined) await keepState(dirname(path), state);
  await appendLines(path, linesOf(keptSteps + 1, steps));
}

async function appendLines(path: string, lines: Iterable<string>): Promise<void> {
  await pipeline(Readable.from(lines), createWriteStream(path, { flags: 'a' }));
}

/** As a run does it, of which nothing else is left. */
async function keepState(directory: string, state: RunState): Promise<void> {
  await using run = await runDirectory(directory).open();
  await run.keepState?.(state);
}

const usage = { ...noStageUsage, replies: 48, input: 21_345, output: 1_234 };
const stamp = (fact: RunFact): RunEvent => {
  return { ...fact, at: '2030-01-01T00:00:00.000Z', ms: 1234, usage: { rollout: usage }, counted: 123_456 };
};

const idOf = (split: string, place: number) => `${split}-${String(place).padStart(5, '0')}`;
const SOFT = [0, 0.25, 0.5, 2 / 3];

function scoresOf(split: string, places: readonly number[], salt: number): ItemScore[] {
  return places.map((place) => {
    const dice = (place * 2_654_435_761 + salt * 40_503) >>> 7;
    const hard = dice % 3 === 0 ? 1 : 0;
    return { id: idOf(split, place), hard, soft: hard || SOFT[dice % SOFT.length]!, taskType: `type ${place % 12}` };
  });
}

function evaluate(split: string, places: readonly number[], salt: number): Evaluation {
  const scores = scoresOf(split, places, salt);
  const mean = (key: 'hard' | 'soft') => scores.reduce((sum, score) => sum + score[key], 0) / scores.length;
  return { hard: mean('hard'), soft: mean('soft'), scores };
}

const upTo = (count: number) => Array.from({ length: count }, (_, place) => place);

function opening({ steps, tasks, batch }: Omit<LongJournal, 'path'>): RunFact[] {
  const evaluation = evaluate('val', upTo(tasks), 0);
  return [
    {
      type: 'run-start',
      format: 1,
      identity: {},
      config: parseConfig({}),
      env: 'made-up',
      target: 'target',
      optimizer: 'optimizer',
      initialSkill: skillOf(0),
      totalSteps: steps,
      items: { train: 10 * batch, val: tasks, test: 0 },
    },
    { type: 'baseline-end', evaluation, score: evaluation.hard },
  ];
}

const sentence = (step: number, place: number) =>
  `Write ${skillHash(`${step} ${place}`)} in the form that the house wants, and check every digit before you answer.`;
const skillOf = (step: number) =>
  `# Skill ${step}\n\n${upTo(12)
    .map((place) => `- ${sentence(step, place)}\n`)
    .join('')}`;

function stepFacts(step: number, { tasks, batch }: Pick<LongJournal, 'tasks' | 'batch'>): RunFact[] {
  const stage = { type: 'stage-end', step } as const;
  const train = shuffle(upTo(10 * batch), step).slice(0, batch);
  const itemIds = train.map((place) => idOf('train', place));
  const edits = upTo(EDITS_PER_STEP).map((place) => {
    return { op: 'append' as const, content: sentence(step, place), target: '', supportCount: 1 };
  });
  const patch = { edits, reasoning: sentence(step, 0).repeat(4) };
  const patches = upTo(4).map((place) => ({ patch, sourceType: 'failure' as const, batchSize: 8 + place }));
  const failurePatterns = [{ type: 'format', count: batch, taskIds: itemIds.slice(0, Math.ceil(batch / 2)) }];
  const [candidateSkill, candidateHash] = [skillOf(step), skillHash(skillOf(step))];
  const report = edits.map(({ op, content }, index) => {
    return { index: index + 1, op, target: '', contentPreview: content, status: 'applied_append' as const };
  });
  const evaluation = evaluate('val', shuffle(upTo(tasks), step), step);
  const action = step % ACCEPTED === 0 ? 'accept_new_best' : 'reject';
  const moved = (part: number) => ({
    items: evaluation.scores.slice(0, tasks / part).map(({ id }) => id),
    sum: tasks / part,
  });
  const decision = {
    expectedGain: 0.01,
    chance: 0.5,
    meanGain: 0.01,
    gains: moved(10),
    regressions: moved(12),
    verdict: action === 'reject' ? ('reject' as const) : ('accept' as const),
    reason: 'made up',
    refreshed: [],
    total: tasks,
  };
  const place = { epoch: Math.ceil(step / STEPS_PER_EPOCH), stepInEpoch: 1 + ((step - 1) % STEPS_PER_EPOCH) };
  return [
    { type: 'step-start', step, ...place, editBudget: EDITS_PER_STEP, seed: step, itemIds },
    { ...stage, stage: 'rollout', evaluation: evaluate('train', train, step) },
    { ...stage, stage: 'reflect', patches, failurePatterns },
    { ...stage, stage: 'aggregate', patch },
    { ...stage, stage: 'select', patch },
    { ...stage, stage: 'update', candidateSkill, candidateHash, report },
    { ...stage, stage: 'evaluate', evaluation, score: evaluation.hard, action, decision },
    { type: 'step-end', step, action },
  ];
}
