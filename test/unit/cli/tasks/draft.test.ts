import { join } from 'node:path';
import { serveSim, simulatedOptimizer, simulatedTarget } from 'skillopt/sim';
import { startFakeLLM } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { countGood } from '../../../../bench/quality/drafts/count-good.ts';
import { readJournal } from '../../../../src/stores/run/journal.ts';
import { expectEvery } from '../../../support/expect-every.ts';
import { PROJECT, worldFolder } from './world-folder.ts';

describe('tasks draft', () => {
  it('drafts tasks over HTTP that train can use, spread over the skill, with controls; every report says so', async () => {
    await using server = await serveSim({ target: simulatedTarget(), optimizer: simulatedOptimizer() });
    const model = (name: string) =>
      `{ provider: compatible, model: ${name}, baseURL: "${server.url}", apiKeyEnv: FAR_KEY }`;
    const config = `name: run\nskill: house-style\ntasks: tasks.jsonl\ntarget: ${model('sim-target')}\noptimizer: ${model('sim-optimizer')}\nnumEpochs: 1\n`;
    using folder = worldFolder({ 'skillopt.config.yaml': config });
    const { code, out, err } = await folder.cli('tasks', 'draft');
    expect(code, err).toBe(0);
    expect(err).toMatch(/40 tasks for tasks.jsonl by .*: about \d+ calls \(at most \d+\), [\d.,kM]+ tokens, /);
    expect(out).toContain('40 tasks in tasks.jsonl, 40 drafted now, reviewed by nobody');
    expect(out).toMatch(/dropped: .*repeated.*contradicted/s);
    expect(out).toContain('next:  npx skillopt train');
    const rows = folder.rows() as { question: string; answers: string[]; taskType: string }[];
    expect(rows).toHaveLength(40);
    expectEvery(rows, (row) => 'why' in row);
    expect(rows[0]).toMatchObject({ drafted: true, reviewed: false });
    expect(new Set(rows.map(({ taskType }) => taskType)).size).toBe(13);
    expect(rows.filter(({ taskType }) => taskType === 'control')).toHaveLength(4);
    expect(countGood(rows, folder.world).good).toBeGreaterThanOrEqual(36);

    const trained = await folder.cli('train', '--quiet');
    expect(trained.code, trained.err).toBe(0);
    const said = '40 of 40 tasks were drafted by a model and reviewed by nobody.';
    expect(trained.out).toContain(said);
    expect((await folder.cli('show', 'run')).out).toContain(said);
    expect(folder.read('runs/run/report.md')).toContain(said);
    expect((await folder.cli('show', 'run', '--json')).json().verdict.drafts).toEqual({ drafted: 40, unreviewed: 40 });
    const [start] = await readJournal(join(folder.path, 'runs', 'run', 'events.jsonl'));
    expect(start).toMatchObject({ type: 'run-start', drafts: { drafted: 40, unreviewed: 40 } });
  });

  it('tops up, and leaves what is there as it is', async () => {
    using folder = worldFolder(PROJECT);
    await folder.cli('tasks', 'draft', '--n', '6', '--quiet');
    const own = '{"question":"Who?",   "answers":"I", "note": "mine"}\n';
    folder.write('tasks.jsonl', own + folder.read('tasks.jsonl').replace('"reviewed":false', '"reviewed":true'));
    const before = folder.read('tasks.jsonl');
    const { code, json } = await folder.cli('tasks', 'draft', '--n', '12', '--json');
    expect(code).toBe(0);
    expect(json()).toMatchObject({ tasks: 12, drafted: 5, wanted: 12 });
    expect(folder.read('tasks.jsonl').startsWith(before)).toBe(true);
    expect((await folder.cli('tasks', 'draft', '--n', '12', '--json')).json()).toMatchObject({ drafted: 0, calls: 0 });
  });

  it('gives every new task a split where the others have one', async () => {
    const rows = ['train', 'val', 'test'].map((split) =>
      JSON.stringify({ question: `A ${split} one?`, answers: 'yes', split }),
    );
    using folder = worldFolder({ ...PROJECT, 'tasks.jsonl': `${rows.join('\n')}\n` });
    await folder.cli('tasks', 'draft', '--n', '10', '--quiet');
    const splits = folder.rows().map(({ split }) => split);
    expect(['train', 'val', 'test'].map((name) => splits.filter((split) => split === name).length)).toEqual([4, 3, 3]);
  });

  it('keeps what is good when a limit ends it, and ends with 3', async () => {
    using folder = worldFolder(PROJECT);
    const { code, out, err } = await folder.cli('tasks', 'draft', '--max-calls', '60', '--quiet');
    expect(code, err).toBe(3);
    const kept = folder.rows().length;
    expect(kept).toBeGreaterThan(0);
    expect(out).toContain(`${kept} of 40 tasks`);
  });

  it('reads drafts in babble, and drops what cannot be a task', async () => {
    const drafts = [
      { question: 'What is 2 + 2?', answers: 4 },
      { question: 'No reference?' },
      { question: 'Say supervisor', checks: [{ type: 'icontains', value: 'supervisor' }] },
    ];
    await using server = await startFakeLLM(({ messages }) => {
      const system = String(messages[0]?.content);
      if (system.includes('skill_topics'))
        return 'Sure!\n```json\n{"skill_topics": [{"name": "Sums", "about": "Adding."}]}\n```';
      if (system.includes('task_drafts')) return `Here you are: ${JSON.stringify({ task_drafts: drafts })} Good luck!`;
      return 'Ask a supervisor.\n<answer>4</answer>';
    });
    using folder = worldFolder();
    const model = `compatible:any@${server.baseURL}`;
    const { code, json, err } = await folder.cli(
      'tasks',
      'draft',
      '--skill',
      'house-style',
      '--n',
      '2',
      '--model',
      model,
      '--json',
    );
    expect(code, err).toBe(0);
    expect(json()).toMatchObject({ tasks: 2, kinds: { sums: 2 }, isProject: false });
    expect(folder.rows().map(({ answers, judge }) => answers ?? judge)).toEqual([
      ['4'],
      { kind: 'checks', checks: [{ type: 'icontains', value: 'supervisor' }] },
    ]);
  });

  it('says what to do without a skill, without a model, and with a file of another format', async () => {
    using folder = worldFolder();
    const noSkill = await folder.cli('tasks', 'draft');
    expect([noSkill.code, noSkill.err]).toEqual([2, expect.stringContaining('--skill PATH')]);
    const noModel = await folder.cli('tasks', 'draft', '--skill', 'house-style');
    expect([noModel.code, noModel.err]).toEqual([2, expect.stringContaining('--model openai:MODEL')]);
    const csv = await folder.cli(
      'tasks',
      'draft',
      '--skill',
      'house-style',
      '--out',
      'tasks.csv',
      '--model',
      'simulated',
    );
    expect([csv.code, csv.err]).toEqual([2, expect.stringContaining('JSON object per line')]);
  });
});
