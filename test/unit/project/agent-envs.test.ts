import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isBenchmark, whyNoAgent } from '../../../src/benchmarks/index.ts';
import { loadEnv, loadProject } from '../../../src/project/index.ts';
import { probeSandbox, sandboxes } from '../../../src/public/workspaces.ts';
import { shellAgent } from '../../support/shell-agent.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { fixture } from '../runners/import/work-imports.ts';

const isIsolated = (await probeSandbox()).bubblewrap.isAvailable;
const sandbox = isIsolated ? sandboxes.bubblewrap() : sandboxes.none();
const target = { id: 'none', complete: () => Promise.reject(new Error('not asked')) };

async function envOf(path: string, config = 'skillopt.config.json', flags = {}) {
  const loaded = await loadProject({ flags, config, cwd: path });
  return loadEnv(loaded);
}

describe('a project whose target is an agent', () => {
  it('puts the questions of a SkillOpt config to it', async () => {
    const rows = Array.from({ length: 10 }, (_, index) =>
      JSON.stringify({ id: `q${index}`, question: `Say ${index}`, answers: [`${index}`] }),
    );
    using folder = tempFolder({
      'tasks.jsonl': rows.join('\n'),
      'x.yaml': `model: { optimizer: o, target: t, target_backend: claude_code_exec }\nsandbox: ${isIsolated ? 'auto' : 'none'}\n`,
    });
    const env = await envOf(folder.path, 'x.yaml', { env: 'qa', tasks: 'tasks.jsonl' });
    const agent = shellAgent(sandbox, (prompt) => ({ script: 'true', text: /Say (\d)/.exec(prompt)![1]! }));
    const [item] = await env.getItems('train');
    const { signal } = new AbortController();
    const result = await env.rolloutOne({ item: item!, skill: 'Be brief.', target, agent, extras: {}, signal });
    expect(result).toMatchObject({ hard: 1, nTurns: 2, extras: { ended: 'done' } });
  });

  it('puts the questions of a benchmark to it', async () => {
    using folder = tempFolder({
      'agent.yaml': `env: searchqa\nsplitDir: data\ntarget: { agent: claude }\noptimizer: simulated\nsandbox: ${isIsolated ? 'auto' : 'none'}\n`,
    });
    cpSync('examples/benchmarks/searchqa', join(folder.path, 'data'), { recursive: true });
    const env = await envOf(folder.path, 'agent.yaml');
    const agent = shellAgent(sandbox, () => ({ script: 'true', text: '<answer>sprocket</answer>' }));
    const [item] = await env.getItems('train');
    const { signal } = new AbortController();
    const result = await env.rolloutOne({ item: item!, skill: 'Be brief.', target, agent, extras: {}, signal });
    expect(result).toMatchObject({ hard: 1, extras: { ended: 'done' } });
    expect(agent.prompts[0]).toMatch(/^Passages:\n\[DOC\] Bicycle drivetrain/);
  });

  it('knows which benchmarks are not for an agent, and why', () => {
    expect(['searchqa', 'livemath', 'officeqa'].map(whyNoAgent)).toEqual([undefined, undefined, undefined]);
    for (const name of ['docvqa', 'spreadsheetbench', 'alfworld']) expect(whyNoAgent(name)).toMatch(/^(its|the) /);
  });

  it.each(['docvqa', 'spreadsheetbench', 'alfworld'].filter(isBenchmark))(
    'is refused by %s, in words',
    async (name) => {
      using folder = tempFolder({
        'agent.yaml': `env: ${name}\nsplitDir: .\ntarget: { agent: claude }\noptimizer: simulated\n`,
      });
      await expect(envOf(folder.path, 'agent.yaml')).rejects.toMatchObject({
        code: 'CONFIG_INVALID',
        message: expect.stringContaining(`env: ${name} is not for an agent: `),
      });
    },
  );

  it('says what an import left out', async () => {
    using folder = tempFolder({
      'skillopt.config.json': JSON.stringify({
        env: 'workspace',
        tasks: 'tasks/evals/evals.json',
        target: { agent: 'claude' },
        optimizer: 'simulated',
      }),
    });
    cpSync(fixture('evals/odd'), join(folder.path, 'tasks'), { recursive: true });
    await expect(envOf(folder.path)).rejects.toThrow('license is left out: nothing here does it');
  });
});
