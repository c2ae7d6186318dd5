/**
 * What `preset: 'paper'` and `gate: 'strict'` do, fact by fact, in small simulated worlds. The journals in
 * `test/fixtures/protocol-journals` are the protocol: a change of other gates, searches or defaults must leave them alone.
 *
 * They also hold what the optimizer answered, so that a change of its prompts or of the simulated models shows here too.
 * If a journal changes on purpose, `WRITE_FIXTURES=1 npx vitest run test/pins/protocol-journals.test.ts` writes all of
 * them again instead of comparing. Read the diff before you keep it.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import {
  memoryRun,
  parseConfig,
  type RunEvent,
  SimpleQAEnv,
  type SkillOptConfigInput,
  SkillOptTrainer,
  toFact,
} from 'skillopt';
import { createWorld, simulatedOptimizer, simulatedTarget } from 'skillopt/sim';
import { describe, expect, it } from 'vitest';

const FOLDER = new URL('../fixtures/protocol-journals/', import.meta.url);
const isWriting = process.env.WRITE_FIXTURES === '1';

/** Two steps an epoch; few tasks, so that ties are common and the files small. */
const WORLD = { train: 16, val: 12, test: 4, topics: 6 };
const TARGET = { noise: 0.2 };
const OPTIMIZER = { precision: 0.5, harmfulRate: 0.3 };

const paper = { preset: 'paper', batchSize: 8 } as const;

/** The paper's settings, but for racing, in full: no default of the other preset has a say. */
const strict = {
  batchSize: 8,
  minibatchSize: 8,
  editBudget: 4,
  minEditBudget: 2,
  lrScheduler: 'cosine',
  proposalsPerBatch: 1,
  stepBufferScope: 'epoch',
  dropRepeats: false,
  tryRemovals: false,
  retryRejectedEdits: true,
  useSlowUpdate: true,
  useMetaSkill: true,
  gate: 'strict',
  racing: 'exact',
  finalPasses: 0,
  leakCritic: false,
  maxSkillTokens: 0,
} as const;

type Case = {
  readonly name: string;
  /** Of the world, both models and every shuffle. Chosen among the first few for what happens in the run. */
  readonly seed: number;
  readonly config: SkillOptConfigInput;
  /** What must be in the journal, lest it pin nothing. */
  readonly shows: readonly string[];
};

const GATED = ['step: accept_new_best', 'step: reject'];
const MEMORY = ['slow-update-end', 'meta-skill-end'];

const CASES: readonly Case[] = [
  { name: 'paper', seed: 1, config: { ...paper, numEpochs: 3 }, shows: [...GATED, ...MEMORY] },
  {
    name: 'paper-without-memory',
    seed: 1,
    config: { ...paper, numEpochs: 2, useSlowUpdate: false, useMetaSkill: false },
    shows: GATED,
  },
  {
    name: 'paper-mixed-linear-accumulated',
    seed: 7,
    config: { ...paper, numEpochs: 2, batchSize: 4, accumulation: 2, gateMetric: 'mixed', lrScheduler: 'linear' },
    shows: GATED,
  },
  {
    name: 'paper-rewrite',
    seed: 14,
    config: { ...paper, numEpochs: 2, skillUpdateMode: 'rewrite_from_suggestions' },
    shows: GATED,
  },
  {
    name: 'paper-without-gate',
    seed: 9,
    config: { ...paper, numEpochs: 3, useGate: false },
    shows: ['step: force_accept', ...MEMORY],
  },
  {
    name: 'strict-exact',
    seed: 10,
    config: { ...strict, numEpochs: 3 },
    shows: [...GATED, ...MEMORY, 'a race lost early'],
  },
  {
    name: 'strict-salvage-prune',
    seed: 1,
    config: { ...strict, numEpochs: 2, salvage: true, prune: true },
    shows: [...GATED, 'a race lost early', 'salvage-end', 'a part saved', 'prune-end', 'a passage pruned'],
  },
];

/** A fact as the fixtures keep it. Configuration and identity get new keys with every new setting; the rest stays. */
function pinned(event: RunEvent) {
  const fact = toFact(event);
  if (fact.type !== 'run-start') return fact;
  const { config: _config, identity: _identity, ...start } = fact;
  return start;
}

async function journalOf({ seed, config }: Case): Promise<readonly RunEvent[]> {
  const { items, initialSkill } = createWorld({ ...WORLD, seed });
  const store = memoryRun();
  const trainer = new SkillOptTrainer({
    config: { ...config, seed },
    env: new SimpleQAEnv({ trainItems: items.train, valItems: items.val, testItems: items.test, initialSkill }),
    target: simulatedTarget({ ...TARGET, seed }),
    optimizer: simulatedOptimizer({ ...OPTIMIZER, seed }),
    store,
  });
  await trainer.train();
  return store.events;
}

function happenings(event: RunEvent): string[] {
  if (event.type === 'step-end') return [`step: ${event.action}`];
  if (event.type === 'salvage-end') return [event.type, ...(event.accepted ? ['a part saved'] : [])];
  if (event.type === 'prune-end') return [event.type, ...(event.removed.length > 0 ? ['a passage pruned'] : [])];
  if (event.type !== 'stage-end') return [event.type];
  return event.stage === 'evaluate' && event.isPartial ? ['a race lost early'] : [];
}

/** The first line that differs is the cause; what follows it are consequences. */
function compareLines(today: readonly string[], then: readonly string[]): void {
  for (const [index, line] of today.entries()) {
    const read = (text = 'null') => ({ line: index + 1, fact: JSON.parse(text) });
    expect(read(line)).toEqual(read(then[index]));
  }
  expect(today).toHaveLength(then.length);
}

describe('the journals of the paper and of the strict gate', () => {
  it.each(CASES)('$name', async (one) => {
    const events = await journalOf(one);
    const today = events.map((event) => JSON.stringify(pinned(event)));
    const file = new URL(`${one.name}.jsonl`, FOLDER);
    if (isWriting) {
      mkdirSync(FOLDER, { recursive: true });
      writeFileSync(file, `${today.join('\n')}\n`);
    } else {
      compareLines(today, readFileSync(file, 'utf8').trimEnd().split('\n'));
    }
    expect(events.flatMap(happenings)).toEqual(expect.arrayContaining([...one.shows]));
  });

  it('has settings that worlds so small do not show', () => {
    expect(parseConfig({ preset: 'paper' })).toMatchObject({
      numEpochs: 4,
      batchSize: 40,
      minibatchSize: 8,
      mergeBatchSize: 8,
      slowUpdateSamples: 20,
      maxSkillTokens: 0,
      retryRejectedEdits: true,
      leakCritic: false,
    });
  });
});
