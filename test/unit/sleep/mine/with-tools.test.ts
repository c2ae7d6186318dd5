import { mineTasks } from 'skillopt/sleep';
import { scripted } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { session } from '../../../support/sleep/sleep-tasks.ts';

const TASK = { intent: 'Add a flag that prints the version', rubric: 'A test covers it.', needs_files: true };

/** What is mined, and what the miner was told. */
async function mined(hasTools: boolean) {
  const miner = scripted('miner', () => JSON.stringify({ tasks: [TASK] }));
  const { tasks } = await mineTasks([session('a', { userPrompts: ['Add a flag for the version, please'] })], {
    miner,
    hasTools,
  });
  return { tags: tasks[0]!.tags, told: miner.requests[0]!.messages[0]!.content };
}

describe('mining for an agent with tools', () => {
  it('asks for tasks that need files too, and marks them', async () => {
    const { tags, told } = await mined(true);
    expect(tags).toEqual(['needs:files']);
    expect(told).toContain('With the project at hand');
  });

  it('without one tells the miner nothing of files', async () => {
    expect((await mined(false)).told).not.toContain('needs_files');
  });
});
