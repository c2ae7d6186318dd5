import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runDirectory, SimpleQAEnv, type SkillOptConfigInput, SkillOptTrainer } from 'skillopt';
import { createWorld, simulatedOptimizer, simulatedTarget } from 'skillopt/sim';
import { describe, expect, it } from 'vitest';
import { markOf } from '../../../src/core/page/attempts.ts';
import { noView, projectRun } from '../../../src/core/page/index.ts';
import { listAttemptFiles, readAttempt, readAttemptIndex } from '../../../src/stores/index.ts';
import { tempFolder } from '../../support/temp-folder.ts';

/** Everything that makes attempts. */
const EVERYTHING: SkillOptConfigInput = {
  ...{ salvage: true, prune: true, useSlowUpdate: true, slowUpdateSamples: 4, regressionVeto: true, tryRemovals: true },
  ...{ batchSize: 8, numEpochs: 3, finalPasses: 2 },
};

async function train(path: string, seed: number) {
  const { items, initialSkill } = createWorld({ train: 16, val: 12, test: 4, topics: 5, seed });
  const store = runDirectory(path);
  await new SkillOptTrainer({
    config: { ...EVERYTHING, seed },
    env: new SimpleQAEnv({ trainItems: items.train, valItems: items.val, testItems: items.test, initialSkill }),
    target: simulatedTarget({ noise: 0.2, seed }),
    optimizer: simulatedOptimizer({ precision: 0.6, harmfulRate: 0.2, seed }),
    store,
  }).train();
  return (await store.read()).reduce(projectRun, noView);
}

const kindOf = (file: string) => file.replace(/_\d+(?=\/)/g, '_N');

describe('the files with attempts of a run', () => {
  it('hold the attempts that a page shows, under the names by which it shows them', async () => {
    const kinds = new Set<string>();
    for (const seed of [2, 4, 7, 8, 9, 10, 11, 12]) {
      using folder = tempFolder();
      const { attempts, tasks, state } = await train(folder.path, seed);
      const files = await listAttemptFiles(folder.path);
      const marks = new Map<string, string[]>();
      for (const { part, tasks: places, marks: found } of attempts) {
        const named = Array.from(places, (place, at) => `${tasks[place]!.id} ${found[at]}`);
        marks.set(part, [...(marks.get(part) ?? []), ...named]);
      }
      for (const { file, path } of files) {
        kinds.add(kindOf(file));
        const rows = await readAttemptIndex(path);
        const { question } = await readAttempt(path, rows.at(-1)!);
        expect(question, file).toBeTypeOf('string');
        const written = rows.map(({ id, hard, soft }) => `${id} ${markOf({ id, hard, soft }, state.config!)}`);
        if (marks.has(file)) expect(written.sort(), file).toEqual(marks.get(file)!.sort());
        else expect(file).toMatch(/^prune_eval|salvage_eval/); // the journal has their means only
        marks.delete(file);
      }
      expect([...marks.keys()]).toEqual([]);
    }
    expect([...kinds].sort()).toMatchInlineSnapshot(`
      [
        "baseline_selection_eval/pass_2",
        "baseline_selection_eval/results",
        "final_measurement/results",
        "prune_eval/try_N/results",
        "slow_update/epoch_N/selection_eval/results",
        "slow_update/epoch_N/selection_eval/second_pass",
        "steps/step_N/removal_eval/asked_again",
        "steps/step_N/removal_eval/current",
        "steps/step_N/removal_eval/results",
        "steps/step_N/removal_eval/second_pass",
        "steps/step_N/rollout_results",
        "steps/step_N/salvage_eval/part_N/asked_again",
        "steps/step_N/salvage_eval/part_N/current",
        "steps/step_N/salvage_eval/part_N/results",
        "steps/step_N/salvage_eval/part_N/second_pass",
        "steps/step_N/selection_eval/asked_again",
        "steps/step_N/selection_eval/current",
        "steps/step_N/selection_eval/results",
        "steps/step_N/selection_eval/second_pass",
        "test_eval_baseline/results",
        "test_eval_best/results",
        "test_eval_final/results",
      ]
    `);
  });

  it('are the same after a crash in the middle of a step', async () => {
    using folder = tempFolder();
    const [whole, cut] = [join(folder.path, 'whole'), join(folder.path, 'cut')];
    await train(whole, 4);
    const lines = readFileSync(join(whole, 'events.jsonl'), 'utf8').split('\n');
    const end = lines.findLastIndex((line) => line.includes('"salvage-end"'));
    const step = /"step":(\d+)/.exec(lines[end]!)![1]!.padStart(4, '0');
    cpSync(whole, cut, { recursive: true });
    for (const gone of [`steps/step_${step}`, 'prune_eval']) rmSync(join(cut, gone), { recursive: true });
    writeFileSync(join(cut, 'events.jsonl'), `${lines.slice(0, end).join('\n')}\n`);
    await train(cut, 4);
    const textsIn = async (path: string) => {
      const files = await listAttemptFiles(path);
      return files.map((found) => [found.file, readFileSync(found.path, 'utf8')]);
    };
    expect(await textsIn(cut)).toEqual(await textsIn(whole));
  });
});
