import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { startFakeAgentLLM } from 'skillopt/testing';
import { describe, expect, it, vi } from 'vitest';
import { agentProject } from './agent-project.ts';

vi.setConfig({ testTimeout: 200_000 });

type Project = ReturnType<typeof agentProject>;

const OTHER = '---\nname: other\ndescription: Something else.\n---\n\nOther.\n';
const start = async () => {
  const llm = await startFakeAgentLLM({ policy: 'follow' });
  const files = { 'teapots/references/shops.md': 'Shops.\n', 'others/other/SKILL.md': OTHER };
  const config = { workspace: NEIGHBOURS };
  const project = agentProject({ baseURL: llm.url, files, config });
  return { llm, project, [Symbol.asyncDispose]: () => llm[Symbol.asyncDispose]().then(project[Symbol.dispose]) };
};

const NEIGHBOURS = { neighbours: ['others/other'] };

const settings: [string, (project: Project) => void][] = [
  ['limits', (project) => project.configure({ workspace: { ...NEIGHBOURS, limits: { maxTurns: 9 } } })],
  ['where skills are installed', (project) => project.configure({ target: { scope: 'project' } })],
  ['the model', (project) => project.configure({ target: { model: 'claude-sonnet-4-5' } })],
  ['the version of the CLI', (project) => project.configure({ target: { path: project.newerClaude() } })],
];

const changes: [string, (project: Project) => void][] = [
  ['the folder that a task begins with', (project) => project.write('shop/stock.txt', 'eight\n')],
  ['the tests of its verifier', (project) => project.write('tests/check.sh', 'grep -q seven teapots.txt\n')],
  ['a file beside SKILL.md', (project) => project.write('teapots/references/shops.md', 'More shops.\n')],
  ['a neighbour', (project) => project.write('others/other/SKILL.md', `${OTHER}More.\n`)],
];

describe('attempts of an agent', () => {
  it('are taken from the cache when nothing has changed, and made again after a change of each thing that they depend on', async () => {
    await using world = await start();
    const { llm, project } = world;
    const callsOf = async (...more: string[]) => {
      const before = llm.calls();
      const { code, err } = await project.run('eval', '--skill', 'teapots', '--quiet', ...more);
      expect(code, err).toBe(0);
      return llm.calls() - before;
    };
    expect([(await callsOf()) > 0, await callsOf()]).toEqual([true, 0]);
    for (const [what, change] of [...changes, ...settings]) {
      change(project);
      expect([what, (await callsOf()) > 0]).toEqual([what, true]);
    }
    expect(await callsOf()).toBe(0);
  });

  it('of a run do not resume as those of another one', async () => {
    await using world = await start();
    const { project } = world;
    expect(await project.run('train', '--quiet')).toMatchObject({ code: 0 });
    expect(await project.run('train', '--quiet')).toMatchObject({ code: 0 });
    for (const [, change] of changes) {
      change(project);
      const { code, err } = await project.run('train', '--quiet');
      expect([code, err]).toEqual([2, expect.stringContaining('holds a run of something else')]);
    }
    const { err } = await project.run('train', '--quiet');
    expect(err).toContain(
      '- the tasks have changed (train, val, test): their text, their files, or how they are divided\n',
    );
    expect(err).toContain('- the files beside the skill have changed\n- the neighbours have changed\n');
    expect(err).not.toMatch(/[0-9a-f]{16}/);
    project.configure({ workspace: { ...NEIGHBOURS, limits: { maxTurns: 9 } } });
    expect((await project.run('train', '--quiet')).err).toMatch(
      /limits\.maxTurns: was \S+, is 9\n.*start over \(--fresh\)/,
    );
  });
});

it('names a folder that a task needs and nobody made, before anything is asked', async () => {
  await using world = await start();
  const { llm, project } = world;
  rmSync(join(project.path, 'shop'), { recursive: true });
  const { code, err } = await project.run('eval', '--skill', 'teapots');
  expect([code, llm.calls()]).toEqual([2, 0]);
  expect(err).toMatch(/a task names the folder shop, and .*\/shop is none/);
});
