import { startFakeAgentLLM } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { COUNT, installedAgents, openShop } from './agent-at-work.ts';

const rows = (await installedAgents()).filter(({ name }) => name !== 'cursor');

/** Settings with which a repository would have a program run. */
const hooks = {
  '.claude/settings.json': JSON.stringify({
    hooks: { SessionStart: [{ hooks: [{ type: 'command', command: 'touch hooked' }] }] },
  }),
  '.gemini/settings.json': JSON.stringify({
    hooks: { SessionStart: [{ hooks: [{ type: 'command', command: 'touch hooked' }] }] },
  }),
  '.qwen/settings.json': JSON.stringify({
    hooks: { SessionStart: [{ hooks: [{ type: 'command', command: 'touch hooked' }] }] },
  }),
  '.codex/config.toml': 'notify = ["touch", "hooked"]\n',
  '.github/hooks/hooks.json': JSON.stringify({
    version: 1,
    hooks: { sessionStart: [{ type: 'command', bash: 'touch hooked' }] },
  }),
};

/** Still run what a repository's settings say: their hooks are not turned off yet. */
const RUN_HOOKS = ['copilot', 'qwen'];

describe.each(rows)('$name at work', ({ name, model, installed }) => {
  if (installed.missing !== undefined) return it.skip(installed.missing);
  const shop = { name, model, program: installed.program };

  it('row 1, 9: loads the skill that the prompt asks for, its script runs, and all that was used is counted', async () => {
    await using llm = await startFakeAgentLLM({ policy: 'follow', only: ['teapots'] });
    const { work } = await openShop({ ...shop, llm });
    const { run, changes } = await work(COUNT, { files: RUN_HOOKS.includes(name) ? {} : hooks });
    expect(run).toMatchObject({ ended: 'done', skillsLoaded: ['teapots'], turns: llm.calls() });
    expect(run.skillsOffered).toEqual([{ name: 'teapots', description: 'whole' }]);
    expect(changes['teapots.txt']).toContain('+seven');
    expect(changes['count.txt']).toContain('+counted');
    expect(run.usage).toEqual(llm.usage());
    expect(Object.keys(changes).sort(), 'row 12: no hook of the repository runs').toEqual([
      'count.txt',
      'teapots.txt',
      'where.txt',
    ]);
  });

  it('row 2: leaves the skill alone when the prompt is about something else', async () => {
    await using llm = await startFakeAgentLLM({ policy: 'follow', only: ['teapots'] });
    const { work } = await openShop({ ...shop, llm });
    const { run, changes } = await work('Say hello.');
    expect([run.skillsLoaded, run.text, changes]).toEqual([[], 'done', {}]);
    expect(run.usage).toEqual(llm.usage());
  });
});
