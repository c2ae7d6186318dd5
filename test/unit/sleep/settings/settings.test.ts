import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadProject } from '../../../../src/project/index.ts';
import { loadSleepSettings, sleepShape } from '../../../../src/sleep/index.ts';
import { settingsTable } from '../../../support/settings-table.ts';
import { tempFolder } from '../../../support/temp-folder.ts';

/** Loads from a home with these files; the project is in `app`, the state in `state`. */
async function load(files: Record<string, string>, flags: Record<string, unknown> = {}) {
  using home = tempFolder({ 'app/.keep': '', 'state/.keep': '', ...files });
  const place = { env: {}, home: home.path, platform: process.platform };
  const loaded = await loadSleepSettings({
    place,
    project: join(home.path, 'app'),
    stateFolder: join(home.path, 'state'),
    flags,
  });
  return JSON.parse(JSON.stringify(loaded).replaceAll(home.path, '~')) as typeof loaded;
}

const PROJECT = 'app/skillopt.config.yaml';
const OWN = 'state/config.yaml';
const IMPORTED = '.skillopt-sleep/config.json';

describe('the settings of sleep', () => {
  it('have the defaults of before', async () => {
    const { settings, origins } = await load({});
    expect(settings).toMatchObject({ source: 'auto', projects: 'invoked', lookbackHours: 72, maxTasksPerNight: 40 });
    expect(settings).toMatchObject({
      valFraction: 0.34,
      testFraction: 0,
      editBudget: 4,
      gateMetric: 'mixed',
      seed: 42,
    });
    expect(origins).toEqual({});
  });

  it.each<[string, Record<string, string>, Record<string, unknown>, Record<string, string>]>([
    ['as they are', {}, {}, { target: 'a:1', optimizer: 'b:2', judge: 'c:3' }],
    ['unless sleep names another', { [OWN]: 'judge: z:9' }, {}, { target: 'a:1', optimizer: 'b:2', judge: 'z:9' }],
    ['but not beside another target', {}, { target: 'x:7' }, { target: 'x:7' }],
  ])('has the models of the project %s', async (_, files, flags, models) => {
    const file = 'target: a:1\noptimizer: b:2\njudge: c:3\n';
    const { settings } = await load({ [PROJECT]: file, ...files }, flags);
    const { target, optimizer, judge } = settings;
    expect(JSON.parse(JSON.stringify({ target, optimizer, judge }))).toEqual(models);
  });

  it('come from flags over the project file over config.yaml over an imported config, and say from where', async () => {
    const { settings, origins } = await load(
      {
        [IMPORTED]: JSON.stringify({ seed: 1, edit_budget: 1, recall_k: 1, dream_factor: 1 }),
        [OWN]: 'seed: 2\neditBudget: 2\nrecallK: 2\n',
        [PROJECT]: 'sleep:\n  seed: 3\n  editBudget: 3\n',
      },
      { seed: 4, preferences: undefined },
    );
    expect(settings).toMatchObject({ seed: 4, editBudget: 3, recallK: 2, dreamFactor: 1 });
    expect(origins).toEqual({
      seed: 'command line',
      editBudget: `~/${PROJECT}`,
      recallK: `~/${OWN}`,
      dreamFactor: `~/${IMPORTED}`,
    });
  });

  it.each([
    [{}, 0.34],
    [{ holdout_fraction: 0.5 }, 0.5],
    [{ holdout_fraction: 0.5, val_fraction: 0.2 }, 0.2],
    [{ holdout_fraction: 0.5, val_fraction: 0.34 }, 0.34],
  ])('§ 1.3: of %j the gate gets %d', async (config, share) => {
    const { settings } = await load({ [IMPORTED]: JSON.stringify(config) });
    expect(settings).toMatchObject({ valFraction: share, holdoutFraction: share });
  });

  it('§ 1.3: a valFraction of any place wins over the holdout of any other', async () => {
    expect((await load({ [OWN]: 'valFraction: 0.2\n' }, { holdoutFraction: 0.5 })).settings.valFraction).toBe(0.2);
  });

  it('fact 38: fractions that leave nothing to learn from are refused', async () => {
    const refused = { code: 'CONFIG_INVALID', message: expect.stringContaining('leave no task to learn from') };
    await expect(load({ [OWN]: 'valFraction: 0.6\ntestFraction: 0.4\n' })).rejects.toMatchObject(refused);
  });

  it('paths mean what they meant where they were written', async () => {
    const { settings } = await load(
      {
        [IMPORTED]: JSON.stringify({ claude_home: '~/other/.claude', copilot_cli_session_store: '/srv/store.db' }),
        [PROJECT]: 'sleep:\n  targetSkillPath: skills/x/SKILL.md\n  projects: [., ../two]\n',
      },
      { skillRoots: ['skills'] },
    );
    expect(settings).toMatchObject({
      homes: { claude: '~/other/.claude', 'copilot-cli': '/srv' },
      targetSkillPath: '~/app/skills/x/SKILL.md',
      projects: ['~/app', '~/two'],
      skillRoots: ['~/app/skills'],
    });
  });

  it.each([
    [OWN, 'lookbackHour: 3\n', /config\.yaml:1: unknown key lookbackHour — did you mean lookbackHours\?/],
    [
      PROJECT,
      'sleep:\n  seed: 1\n  gateMetric: hrad\n',
      /config\.yaml:3: gateMetric: expected one of .*got "hrad" — did you mean hard\?/,
    ],
    [PROJECT, 'sleep: 3\n', /config\.yaml:1: sleep: expected keys and values, got 3/],
    [OWN, 'homes: {claud: /x}\n', /config\.yaml:1: homes.*claud/],
    [IMPORTED, '{"edit_budget": "many"}', /config\.json: editBudget: expected a number, got "many"/],
  ])('a wrong value in %s is an error with its place: %j', async (file, text, message) => {
    await expect(load({ [file]: text })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringMatching(message),
    });
  });

  it.each([
    [OWN, 'seed: [1\n'],
    [IMPORTED, '{"seed": '],
    ['.skillopt-sleep/config.yml', 'a: b: c'],
  ])('32: a broken %s is an error, never ignored', async (file, text) => {
    await expect(load({ [file]: text })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('cannot be read'),
    });
  });

  it.each([
    [IMPORTED, '{"auto_adopt": true}'],
    [OWN, 'autoAdopt: true\n'],
    [PROJECT, 'sleep: {auto_adopt: true}\n'],
  ])('auto_adopt in %s is refused, and says why', async (file, text) => {
    await expect(load({ [file]: text })).rejects.toMatchObject({
      message: expect.stringContaining('without a person'),
      hint: expect.stringContaining('adopt it then'),
    });
  });

  it('takes the gate of an imported config', async () => {
    const { settings } = await load({ [IMPORTED]: JSON.stringify({ gate_mode: 'off', gate_no_regression: true }) });
    expect(settings).toMatchObject({ gateMode: 'off', gateNoRegression: true });
  });

  it('names what it does not take of an imported config', async () => {
    const { imported, settings } = await load({
      [IMPORTED]: JSON.stringify({
        transcript_source: 'copilot_cli',
        backend: 'claude',
        auto_adopt: false,
        lookback: 3,
      }),
      '.skillopt-sleep/prompts.json': '{}',
    });
    expect(settings).toMatchObject({ source: 'copilot-cli', promptOverrides: {} });
    expect(imported?.file).toBe(`~/${IMPORTED}`);
    expect(imported?.notTaken).toEqual([
      { key: 'backend', why: expect.stringContaining('target and optimizer') },
      { key: 'auto_adopt', why: 'a proposal is adopted by a person' },
      { key: 'lookback', why: expect.stringContaining('no such setting') },
      { key: 'prompts.json', why: expect.stringContaining('promptOverrides') },
    ]);
  });

  it('prompts are texts, or files beside the settings; a name that no prompt has is an error', async () => {
    const files = { 'app/prompts/miner.md': 'Find them.\n' };
    const prompts = (list: string) => load({ ...files, [PROJECT]: `sleep:\n  promptOverrides: ${list}\n` });
    const { settings } = await prompts('{ miner: prompts/miner.md, attempt: Just do it. }');
    expect(settings.promptOverrides).toEqual({ miner: 'Find them.\n', attempt: 'Just do it.' });
    await expect(prompts('{ miner: prompts/none.md }')).rejects.toThrow('promptOverrides.miner cannot be read');
    await expect(prompts('{ mine: x }')).rejects.toThrow('promptOverrides');
  });

  it('a secret in them is refused', async () => {
    const refused = { code: 'CONFIG_INVALID', message: expect.stringContaining('looks like a secret') };
    await expect(load({ [OWN]: 'apiKey: abcdef\n' })).rejects.toMatchObject(refused);
  });
});

it('a project file may have them, and training does not read them', async () => {
  using folder = tempFolder({ 'skillopt.config.yaml': 'tasks: t.jsonl\nsleep: {seed: 7}\n' });
  const { project } = await loadProject({ flags: {}, cwd: folder.path });
  expect(project.sleep).toEqual({ seed: 7 });
});

it('the documentation shows them all; WRITE_DOCS=1 writes it', () => {
  const page = new URL('../../../../docs/sleep-settings.md', import.meta.url);
  const text = `# Settings of sleep\n\nThese keys go under \`sleep:\` in the project file, or into \`config.yaml\` in the state folder. Both override an existing \`~/.skillopt-sleep\` config.\n\n${settingsTable(sleepShape)}\n`;
  if (process.env.WRITE_DOCS === '1') writeFileSync(page, text);
  expect(readFileSync(page, 'utf8')).toBe(text);
});
