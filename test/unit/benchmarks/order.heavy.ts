import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { startFakeLLM } from 'skillopt/testing';
import { expect, it } from 'vitest';
import {
  allRows,
  DEMO_NAMES,
  type DemoName,
  demoProject,
  demoReply,
  idOf,
  type Row,
  rowsOf,
  SPLITS,
} from '../../support/benchmarks/demo-project.ts';

type Order = (rows: readonly Row[]) => readonly Row[];
const asWritten: Order = (rows) => rows;
const reversed: Order = (rows) => rows.toReversed();
const byHash: Order = (rows) => rows.toSorted((one, other) => firstDigit(idOf(one)) - firstDigit(idOf(other)));

const firstDigit = (text: string) => Number.parseInt(createHash('sha256').update(text).digest('hex')[0]!, 16);
/** So that right and wrong answers are mixed. */
const isKnown = (id: string) => firstDigit(id) % 2 === 0;

type Arranged = { readonly workers: number; readonly order: Order };

/** What a demo is scored with, item by item. Replies come in another order than they are asked for. */
async function scored(name: DemoName, { workers, order }: Arranged) {
  let [open, most] = [0, 0];
  let goAhead = () => {};
  const areTogether = new Promise<void>((resolve) => {
    goAhead = resolve;
  });
  await using far = await startFakeLLM(async (request) => {
    most = Math.max(most, ++open);
    if (open === Math.min(workers, 2)) goAhead();
    await areTogether;
    const reply = demoReply(name, request, isKnown);
    await sleep(firstDigit(reply));
    open--;
    return reply;
  });
  using project = demoProject(name, far.baseURL);
  for (const split of SPLITS) project.write(split, order(rowsOf(name, split)));
  await project.run('eval', '--skill', 'SKILL.md', '--split', 'all', '--out', 'scores', '--workers', String(workers));
  const results: { id: string; hard: number }[] = JSON.parse(project.read('scores/results.json'));
  return { most, ids: results.map(({ id }) => id), byId: new Map(results.map((result) => [result.id, result])) };
}

it.each(DEMO_NAMES)('%s gives the same results with one worker and sixteen, in any order of items', async (name) => {
  const alone = await scored(name, { workers: 1, order: asWritten });
  expect(alone.most).toBe(1);
  for (const id of allRows(name).map(idOf))
    expect(alone.byId.get(id)).toMatchObject({ hard: isKnown(id) ? 1 : 0, conversation: expect.anything() });
  for (const order of [asWritten, reversed, byHash]) {
    const together = await scored(name, { workers: 16, order });
    expect(together.ids).toEqual(SPLITS.flatMap((split) => order(rowsOf(name, split)).map(idOf)));
    expect(together.byId).toEqual(alone.byId);
  }
});
