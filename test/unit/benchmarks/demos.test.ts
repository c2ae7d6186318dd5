import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { checkData } from '../../../src/app/index.ts';
import { loadEnv, loadProject } from '../../../src/project/index.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const examples = fileURLToPath(new URL('../../../examples/benchmarks', import.meta.url));
const configs = fileURLToPath(new URL('../../fixtures/skillopt-configs', import.meta.url));

/** The name of each benchmark here, and in SkillOpt. */
const NAMES = [
  ['searchqa', 'searchqa'],
  ['livemath', 'livemathematicianbench'],
  ['officeqa', 'officeqa'],
  ['spreadsheetbench', 'spreadsheetbench'],
  ['docvqa', 'docvqa'],
  ['alfworld', 'alfworld'],
] as const;

it.each(NAMES)('the settings beside the data of %s count where the data alone is named', async (name) => {
  const data = join(examples, name);
  const found = await checkData(name, { cwd: examples, data, overrides: [] }, {});
  expect([found.tried, found.unscorable]).toEqual([12, []]);
});

it.each(NAMES)('nothing stands against the demo of %s', async (name) => {
  const config = join(examples, name, 'skillopt.config.yaml');
  const found = await checkData(name, { cwd: examples, config, overrides: [] }, {});
  expect(found).toMatchObject({ unscorable: [], givenAway: [], leaks: [], contradictions: [], flaws: [] });
  expect([found.tried, found.counts]).toEqual([12, { train: 4, val: 4, test: 4 }]);
});

it.each(NAMES)("SkillOpt's own config of %s runs on the demo as it is", async (name, theirs) => {
  using folder = tempFolder();
  cpSync(join(examples, name), folder.path, { recursive: true });
  const overrides = [
    'env.split_dir=.',
    ...(name === 'alfworld' ? ['env.world=[node, world.mjs]'] : []),
    ...(name === 'officeqa' ? ['env.docs_dirs=documents'] : []),
  ];
  const config = join(configs, theirs, 'default.yaml');
  const loaded = await loadProject({
    flags: { target: 'openai:m', optimizer: 'openai:m' },
    config,
    cwd: folder.path,
    overrides,
  });
  const env = await loadEnv(loaded);
  expect(env.name).toBe(name);
  expect(env.warnings?.filter((warning) => warning.includes('has no effect'))).toEqual([]);
  expect(await env.getItems('train')).toHaveLength(4);
  expect(await env.getItems('valid_unseen')).toHaveLength(4);
  expect(loaded.project).toMatchObject({ preset: 'paper', numEpochs: 4, editBudget: 4 });
});
