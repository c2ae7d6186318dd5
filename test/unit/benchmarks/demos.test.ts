import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { checkData, pullData } from '../../../src/app/index.ts';
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

it('reads no project file beside data that is named, since it may hold code, and says how to use it', async () => {
  using folder = tempFolder();
  cpSync(join(examples, 'searchqa'), folder.path, { recursive: true });
  rmSync(join(folder.path, 'skillopt.config.yaml'));
  const config = join(folder.path, 'skillopt.config.mjs');
  writeFileSync(config, "throw new Error('this code ran');");
  const found = await checkData('searchqa', { cwd: examples, data: folder.path, overrides: [] }, {});
  expect([found.tried, found.unscorable]).toEqual([12, []]);
  expect(found.warnings).toEqual([
    `${config} is not used, since the data alone was named: name it as the project file`,
  ]);
});

it.each(NAMES)('nothing stands against the demo of %s', async (name) => {
  const config = join(examples, name, 'skillopt.config.yaml');
  const found = await checkData(name, { cwd: examples, config, overrides: [] }, {});
  expect(found).toMatchObject({ unscorable: [], givenAway: [], leaks: [], contradictions: [], flaws: [] });
  expect([found.tried, found.counts]).toEqual([12, { train: 4, val: 4, test: 4 }]);
});

it('a workbook that cannot be read is left out with its name, and the others stay', async () => {
  using folder = tempFolder();
  const from = join(folder.path, 'from');
  cpSync(join(examples, 'spreadsheetbench'), from, { recursive: true });
  writeFileSync(join(from, 'spreadsheet/repeats/1_repeats_golden.xlsx'), 'broken');
  const pulled = await pullData(
    'spreadsheetbench',
    { from, cwd: folder.path, ratio: '2:1:7', seed: 42, overrides: [] },
    {},
  );
  expect(pulled.excluded).toEqual([
    { id: 'repeats', why: 'spreadsheet/repeats/1_repeats_golden.xlsx: it is no Excel workbook (.xlsx)' },
  ]);
  expect(pulled.counts).toEqual({ train: 4, val: 3, test: 4 });
});

it('the card shows another prompt where a setting changes what is asked or how it is scored', async () => {
  const card = async (...overrides: string[]) =>
    (await checkData('searchqa', { cwd: examples, data: 'searchqa', overrides }, {})).card;
  const plain = await card();
  expect(await card('env.maxContextChars=1000')).not.toEqual(plain);
  expect(await card()).toEqual(plain);
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
