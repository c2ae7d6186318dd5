import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { startFakeAgentLLM } from 'skillopt/testing';
import { expect, it, vi } from 'vitest';
import { agentProject, hasBubblewrap } from './agent-project.ts';

vi.setConfig({ testTimeout: 200_000 });

it.each([
  [['--skill', 'nope'], /nope is not there\nhint: Name a SKILL\.md/],
  [['--skill', 'shop'], /shop is a folder without a SKILL\.md\nhint: Name a SKILL\.md/],
  [
    ['--skill', 'teapots', '--in', 'nope'],
    /expected a folder that the workspace is a copy of, and \S*nope is not there\nhint: Name a folder/,
  ],
  [['--skill', 'teapots', '--in', 'tasks.jsonl'], /and \S*tasks\.jsonl is none\nhint: Name a folder/],
  [
    ['--skill', 'teapots', '--path', 'nope'],
    /expected the program of claude, and \S*nope is not there\nhint: Correct --path: /,
  ],
  [
    ['--skill', 'teapots', '--path', '/tmp'],
    /expected the program of claude, and \/tmp is a folder\nhint: Correct --path/,
  ],
  [['--skill', 'teapots', '--path', 'tasks.jsonl'], /and \S*tasks\.jsonl may not be executed\nhint: Correct --path/],
])('says what was expected and what came: try %j', async (flags, said) => {
  using project = agentProject({ baseURL: 'http://127.0.0.1:9' });
  const { code, err } = await project.run('try', 'Count.', '--agent', 'claude', '--sandbox', 'none', ...flags);
  expect([code, err]).toEqual([2, expect.stringMatching(said)]);
  expect(err).not.toMatch(/ENOENT|EISDIR/);
});

it('runs the program that --path names, also where none is on PATH', async () => {
  await using llm = await startFakeAgentLLM({ policy: 'follow' });
  using project = agentProject({ baseURL: llm.url });
  renameSync(join(project.path, 'bin/claude'), join(project.path, 'claude'));
  const sandbox = hasBubblewrap ? 'auto' : 'none';
  const command = ['try', 'Please count the teapots.', '--agent', 'claude', '--skill', 'teapots', '--in', 'shop'];
  const { code, out } = await project.run(
    ...command,
    ...['--path', './claude', '--base-url', llm.url, '--sandbox', sandbox, '--json'],
  );
  expect([code, JSON.parse(out)]).toMatchObject([0, { skill: 'teapots', run: { skillsLoaded: ['teapots'] } }]);
});

it('refuses the name of a skill before it says that it begins', async () => {
  using project = agentProject({ baseURL: 'http://127.0.0.1:9' });
  project.write('teapots/SKILL.md', '---\nname: a/b\ndescription: d\n---\n');
  const { code, err } = await project.run('try', 'Count.', '--agent', 'claude', '--skill', 'teapots');
  expect([code, err]).toEqual([2, expect.stringMatching(/^error: a skill needs a name .*\nhint: .*at most 64/)]);
});
