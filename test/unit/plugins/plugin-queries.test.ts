import { readFileSync } from 'node:fs';
import { createStageDeps, runRollout } from 'skillopt';
import { scripted } from 'skillopt/models';
import { type TriggerQuery, triggerEnv } from 'skillopt/runners';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../../src/cli/index.ts';
import { captureIo } from '../../support/capture-io.ts';
import { sandbox, shellAgent } from '../runners/shell-agent.ts';

const FOLDER = 'examples/plugin-skill';
type Row = { readonly id: string; readonly split: string; readonly query: string; readonly should_trigger: boolean };
const rows: Row[] = readFileSync(`${FOLDER}/queries.jsonl`, 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line));

describe('the queries about the skill of the plugin', () => {
  it('are fit to train on, and half of each split are near misses', async () => {
    const io = captureIo({ cwd: FOLDER, env: process.env });
    expect([await runCli(['tasks', 'check', '--json'], io), io.err()]).toEqual([0, '']);
    for (const split of ['train', 'val', 'test']) {
      const own = rows.filter((row) => row.split === split);
      expect([own.length, own.filter((row) => row.should_trigger).length]).toEqual([40, 20]);
    }
  });

  it('are asked and scored one by one: here by a scripted agent, which loads a skill for the words that it is given', async () => {
    const items: TriggerQuery[] = rows.map(({ id, query, should_trigger }) => ({
      id,
      query,
      shouldTrigger: should_trigger,
    }));
    const own = new Set(rows.filter((row) => row.should_trigger).map(({ query }) => query));
    const isCanary = (prompt: string, description: string) =>
      description
        .toLowerCase()
        .split(/\W+/)
        .some((word) => word.length >= 4 && prompt.toLowerCase().includes(word));
    const isKnown = (prompt: string) => rows.some(({ query }) => query === prompt);
    const { agent } = shellAgent({
      loads: (prompt, description) => (isKnown(prompt) ? own.has(prompt) : isCanary(prompt, description)),
    });
    const none = scripted('none', () => ({ text: '' }));
    const deps = createStageDeps({ target: none, optimizer: none, agent });
    const skill = readFileSync('plugin/skills/skillopt-sleep/SKILL.md', 'utf8');
    const env = triggerEnv({ items: { val: items }, sandbox });
    const results = await runRollout({ env, skill, items }, deps);
    expect(results.map(({ id, hard }) => [id, hard])).toEqual(rows.map(({ id }) => [id, 1]));
    expect(results.filter(({ taskType }) => taskType === 'should load it')).toHaveLength(60);
  });
});
