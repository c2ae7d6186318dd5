/**
 * Runs of an earlier version, byte for byte as it wrote their journals. They open, and resumed from any place they end as
 * they ended then.
 *
 * `WRITE_FIXTURES=1 npx vitest run test/pins/earlier-runs.test.ts` writes the journals that are missing. One that is there
 * stays: what an earlier version wrote cannot be written again.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  emptyRun,
  type RunEvent,
  reduce,
  runDirectory,
  SimpleQAEnv,
  type SkillOptConfigInput,
  SkillOptTrainer,
  skillHash,
  summarize,
  toFact,
} from 'skillopt';
import { createWorld, simulatedOptimizer, simulatedTarget } from 'skillopt/sim';
import { describe, expect, it } from 'vitest';
import { journalLines } from '../../src/core/run/index.ts';
import { readJournal } from '../../src/stores/run/journal.ts';
import { tempFolder } from '../support/temp-folder.ts';

const FOLDER = new URL('../fixtures/earlier-runs/', import.meta.url);

const WORLD = { train: 12, val: 10, test: 4, topics: 5 };
const everything = {
  salvage: true,
  prune: true,
  useSlowUpdate: true,
  useMetaSkill: true,
  slowUpdateSamples: 4,
} as const;

/** The seed is of the world, both models and every shuffle. */
const KINDS: readonly { name: string; seed: number; config: SkillOptConfigInput }[] = [
  { name: 'default', seed: 1, config: { batchSize: 6, numEpochs: 3 } },
  {
    name: 'default-everything',
    seed: 2,
    config: { ...everything, batchSize: 6, numEpochs: 2, useSkillAwareReflection: true },
  },
  { name: 'strict-everything', seed: 3, config: { ...everything, gate: 'strict', batchSize: 6, numEpochs: 2 } },
  { name: 'paper', seed: 4, config: { preset: 'paper', batchSize: 6, numEpochs: 2 } },
  {
    name: 'paper-rewrite',
    seed: 5,
    config: { preset: 'paper', batchSize: 6, numEpochs: 2, skillUpdateMode: 'full_rewrite_minibatch' },
  },
  {
    name: 'autonomous-accumulated',
    seed: 6,
    config: { batchSize: 3, accumulation: 2, numEpochs: 2, lrControlMode: 'autonomous' },
  },
];

async function train({ seed, config }: (typeof KINDS)[number], folder: string): Promise<RunEvent[]> {
  const path = join(folder, 'run');
  const { items, initialSkill } = createWorld({ ...WORLD, seed });
  const trainer = new SkillOptTrainer({
    config: { ...config, seed },
    env: new SimpleQAEnv({ trainItems: items.train, valItems: items.val, testItems: items.test, initialSkill }),
    target: simulatedTarget({ noise: 0.2, seed }),
    optimizer: simulatedOptimizer({ precision: 0.6, harmfulRate: 0.2, seed }),
    store: runDirectory(path),
  });
  await trainer.train();
  return readJournal(join(path, 'events.jsonl'));
}

/** How many lines a run had when it was cut off; its next line is torn. One is cut in its baseline and after a decision, too. */
function cutsOf(name: string, lines: readonly string[]): number[] {
  const decided = lines.findIndex((line) => line.includes('"decision"')) + 1;
  return [...(name === 'default' ? [3, decided] : []), Math.floor(lines.length / 2), lines.length - 2];
}

/** What a resumed run writes may differ from the first run's lines, but not in what happened. Waves were not written then. */
const factsOf = (events: readonly RunEvent[]): unknown[] =>
  JSON.parse(
    JSON.stringify(
      events.map(toFact).filter(({ type }) => type !== 'run-start'),
      (key, value) => (key === 'waves' ? undefined : value),
    ),
  );

async function writeMissing(kind: (typeof KINDS)[number], fixture: URL): Promise<void> {
  if (existsSync(fixture) || process.env.WRITE_FIXTURES !== '1') return;
  using folder = tempFolder();
  await train(kind, folder.path);
  writeFileSync(fixture, readFileSync(join(folder.path, 'run', 'events.jsonl')));
}

/** Made with a setting that is no more: its best skills were compared once more at the end. */
const FINALISTS = new URL('finalists.jsonl', FOLDER);

describe('a run of an earlier version that compared finalists', () => {
  it('opens, and shows the winner with the score of that comparison', async () => {
    const state = (await readJournal(FINALISTS.pathname)).reduce(reduce, emptyRun);
    expect(state.best).toMatchObject({ hash: '65d2aa57cdced0e8', origin: 'step_0005', score: 0.65 });
    expect(summarize(state)).toMatchObject({ isDone: true, bestOrigin: 'step_0005', bestSelectionScore: 0.65 });
  });

  it('shows a former best that won, too', async () => {
    const events = await readJournal(FINALISTS.pathname);
    let before = emptyRun;
    for (const event of events) if (before.best.origin !== 'step_0002') before = reduce(before, event);
    const { skill } = before.best;
    const hash = skillHash(skill);
    const place = events.findIndex(({ type }) => type === 'finalists-end');
    const state = events.with(place, { ...events[place]!, hash } as RunEvent).reduce(reduce, emptyRun);
    expect(state.best).toMatchObject({ skill, origin: 'step_0002', score: 0.55 });
  });

  it('is not resumed', async () => {
    const lines = readFileSync(FINALISTS, 'utf8').split('\n').slice(0, 20);
    using folder = tempFolder({ 'run/events.jsonl': `${lines.join('\n')}\n` });
    const kind = { name: 'finalists', seed: 1, config: { batchSize: 6, numEpochs: 2 } };
    await expect(train(kind, folder.path)).rejects.toMatchObject({
      code: 'RUN_MISMATCH',
      message: expect.stringContaining('finalists: was 3, is (nothing)'),
    });
  });
});

describe('runs of an earlier version', () => {
  it.each(readdirSync(FOLDER))('%s: is written again byte for byte', (name) => {
    const lines = readFileSync(new URL(name, FOLDER), 'utf8').trimEnd().split('\n');
    const [reader, writer] = [journalLines(), journalLines()];
    expect(lines.map((line) => writer.write(reader.read(line)))).toEqual(lines);
  });

  it.each(KINDS)('$name: opens, and resumes to the same end', async (kind) => {
    const fixture = new URL(`${kind.name}.jsonl`, FOLDER);
    await writeMissing(kind, fixture);
    const lines = readFileSync(fixture, 'utf8').trimEnd().split('\n');
    const then = factsOf(await readJournal(fixture.pathname));
    for (const kept of cutsOf(kind.name, lines)) {
      const torn = lines[kept]!.slice(0, 20);
      using folder = tempFolder({ 'run/events.jsonl': `${lines.slice(0, kept).join('\n')}\n${torn}` });
      expect(factsOf(await train(kind, folder.path)), `cut after ${kept} lines`).toEqual(then);
    }
  });
});
