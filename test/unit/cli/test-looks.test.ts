import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { runCli } from '../../../src/cli/index.ts';
import { worldFiles } from '../../e2e/project.ts';
import { captureIo } from '../../support/capture-io.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const models = { target: 'simulated', optimizer: 'simulated' };
const quick = { numEpochs: 1, batchSize: 24, finalPasses: 1, ...models };
const MEANING = 'each further look makes a test score a little less of a surprise';

/** A project whose commands run here. */
function project() {
  const folder = tempFolder(worldFiles(quick));
  const ledger = () => readFileSync(join(folder.path, 'runs/test_looks.jsonl'), 'utf8').trimEnd().split('\n');
  return {
    ...folder,
    ledger: () => ledger().map((line) => JSON.parse(line)),
    async cli(command: string) {
      const io = captureIo({ cwd: folder.path });
      const code = await runCli(command.split(' '), io);
      expect(code, io.err()).toBe(0);
      return io.out();
    },
  };
}

const AGAIN = 'at these test tasks: each look makes their score a little less reliable';
const evaluate = 'eval --skill SKILL.md --quiet';

vi.setConfig({ testTimeout: 400_000 }); // trains several runs, which a busy machine does slowly

describe('looks at the test split', () => {
  it('are told by train, show and summary.json, and a run with another outcome takes another', async () => {
    using folder = project();
    expect(await folder.cli('train --quiet')).not.toContain(AGAIN);
    expect(await folder.cli('show run --all')).toContain('\ntest looks: 1\n');
    expect(await folder.cli('train --quiet')).not.toContain(AGAIN);
    expect(await folder.cli('train --quiet --fresh')).not.toContain(AGAIN); // the same skills, shown again
    expect(await folder.cli('train --quiet --fresh --seed 7')).toContain(`look 2 ${AGAIN}`);
    expect(await folder.cli('show run')).toContain(`look 2 ${AGAIN}`);
    expect(await folder.cli('show run --all')).toContain(`\ntest looks: 2\n${MEANING}`);
    expect(await folder.cli('show run.old-1 --all')).toContain('\ntest looks: 1\n');
    expect(JSON.parse(await folder.cli('show run --json')).testLooks).toBe(2);
    const summary = readFileSync(join(folder.path, 'runs/run/summary.json'), 'utf8');
    expect(JSON.parse(summary).test_looks).toBe(2);
    expect(folder.ledger().map(({ by }) => by)).toEqual(['train', 'train']);
    const runs: { runs: { name: string }[] } = JSON.parse(await folder.cli('runs --json'));
    expect(runs.runs.map(({ name }) => name).sort()).toEqual(['run', 'run.old-1', 'run.old-2']);
    expect(await folder.cli('cache stats')).not.toContain('test_looks');
  });

  it('are counted by eval: each skill once, and once more where replies are asked for again', async () => {
    using folder = project();
    const looks = async (command: string) => JSON.parse(await folder.cli(`${command} --json`)).testLooks;
    expect(await folder.cli(evaluate)).toContain('\ntest looks: 1\n');
    expect(await looks(evaluate)).toBe(1);
    expect(await looks(`${evaluate} --split valid_unseen`)).toBe(1);
    expect(await looks(`${evaluate} --no-cache`)).toBe(2);
    writeFileSync(join(folder.path, 'OTHER.md'), '# Another skill\n');
    expect(await folder.cli('eval --skill OTHER.md --quiet')).toContain(`\ntest looks: 3\n${MEANING}`);
    expect(await looks(evaluate)).toBe(3);
    expect(folder.ledger().map(({ by, subjects }) => [by, Object.keys(subjects)])).toEqual([
      ['eval', ['SKILL.md']],
      ['eval', ['SKILL.md']],
      ['eval', ['OTHER.md']],
    ]);
    expect(await folder.cli('train --quiet')).toContain(`look 4 ${AGAIN}`);
  });

  it('are not taken by other splits, and calibrate takes one only on test', async () => {
    using folder = project();
    expect(await folder.cli(`${evaluate} --split val`)).not.toContain('test looks');
    expect(JSON.parse(await folder.cli(`${evaluate} --split valid_seen --json`))).not.toHaveProperty('testLooks');
    expect(await folder.cli('calibrate --quiet')).not.toContain('test looks');
    expect(folder.ledger).toThrow('ENOENT');
    expect(await folder.cli('calibrate --quiet --split test')).toContain('\ntest looks: 1\n');
    expect(folder.ledger()).toMatchObject([{ by: 'calibrate', subjects: { 'initial skill': expect.any(String) } }]);
  });

  it('begin again with other tasks', async () => {
    using folder = project();
    await folder.cli(evaluate);
    const tasks = join(folder.path, 'tasks.jsonl');
    const rows = readFileSync(tasks, 'utf8').trimEnd().split('\n');
    writeFileSync(tasks, rows.filter((row) => !row.includes(JSON.parse(rows.at(-1)!).id)).join('\n'));
    expect(await folder.cli('eval --skill SKILL.md --quiet')).toContain('\ntest looks: 1\n');
    expect(folder.ledger()).toHaveLength(2);
  });

  it('that cannot be counted are told, and the score as well', async () => {
    using folder = project();
    await folder.cli(`${evaluate} --split val`);
    rmSync(join(folder.path, 'runs'), { recursive: true });
    writeFileSync(join(folder.path, 'runs'), 'a file in the way');
    const io = captureIo({ cwd: folder.path });
    expect(await runCli(`${evaluate} --no-cache`.split(' '), io)).toBe(0);
    expect(io.out()).toContain('on 12 test tasks with SKILL.md');
    expect(io.out()).not.toContain('test looks');
    expect(io.err()).toContain('warning: this look at the test tasks is not counted: ');
  });
});
