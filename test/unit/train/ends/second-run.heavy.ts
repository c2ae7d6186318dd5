import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunEvent } from 'skillopt';
import { expect, it } from 'vitest';
import { projectOverHttp } from '../../../support/project-over-http.ts';
import { startSimOverHttp } from '../../../support/sim-over-http.ts';
import { STRICT } from '../../../support/strict-gate.ts';

const sum = (events: readonly RunEvent[], counter: 'input' | 'replies' | 'cacheHits') =>
  events.flatMap(({ usage }) => Object.values(usage)).reduce((total, stage) => total + stage[counter], 0);

it('the same run started again, or after its journal was deleted, makes no call and does the same', async () => {
  await using server = await startSimOverHttp();
  using project = projectOverHttp(server.baseURL, { numEpochs: 1 });
  expect((await project.run('train', '--quiet')).code).toBe(0);
  const calls = server.requests.length;
  const facts = await project.facts();
  expect((await project.run('train', '--quiet', '--fresh')).code).toBe(0);
  expect(server.requests).toHaveLength(calls);
  expect(await project.facts()).toEqual(await project.facts('run.old-1'));
  const [first, second] = [await project.events('run.old-1'), await project.events()];
  expect([sum(first, 'replies') - sum(first, 'cacheHits'), sum(first, 'input') > 0]).toEqual([calls, true]);
  expect([sum(second, 'replies') - sum(second, 'cacheHits'), sum(second, 'input')]).toEqual([0, 0]);
  await rm(join(project.path, 'runs/run/events.jsonl'));
  expect((await project.run('train', '--quiet')).code).toBe(0);
  expect(server.requests).toHaveLength(calls);
  expect(await project.facts()).toEqual(facts);
});

it('a run started again with another seed pays only for what is new', async () => {
  await using server = await startSimOverHttp();
  using project = projectOverHttp(server.baseURL, { ...STRICT, numEpochs: 1 }); // every other gate asks for several draws
  await project.run('train', '--quiet');
  const calls = server.requests.length;
  expect((await project.run('train', '--quiet', '--fresh', '--seed', '7')).code).toBe(0);
  expect(await project.facts()).not.toEqual(await project.facts('run.old-1'));
  const asked = server.requests.map(({ model, messages }) => JSON.stringify([model, messages]));
  expect(server.requests.length).toBeGreaterThan(calls);
  expect(new Set(asked).size, 'nothing is asked twice').toBe(asked.length);
});
