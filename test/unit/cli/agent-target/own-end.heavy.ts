import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startFakeAgentLLM } from 'skillopt/testing';
import { expect, it, vi } from 'vitest';
import { agentProject, BEST_SANDBOX, hasBubblewrap, SKILL } from './agent-project.ts';

vi.setConfig({ testTimeout: 120_000 });

/** What agents do to stop a server that they started, and hit themselves with. Process numbers below 100 are those of a sandbox. */
const endings = ['kill -9 $PPID', 'kill $PPID', ...(hasBubblewrap ? ['test $$ -lt 100 && kill -9 -1'] : [])];

it.each(endings)('an agent that runs «%s» has failed: that is no outage, and nothing is asked again', async (line) => {
  await using llm = await startFakeAgentLLM({ policy: 'follow' });
  using project = agentProject({
    baseURL: llm.url,
    config: { sandbox: BEST_SANDBOX }, // outside of a sandbox one of these lines ends every process of this machine
    files: { 'teapots/SKILL.md': SKILL.replace('DO: cp', () => `DO: ${line}\nDO: cp`) },
  });
  const { code, out } = await project.run('eval', '--skill', 'teapots', '--json', '--out', join(project.path, 'out'));
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ n: 1, hard: 0 });
  const results = JSON.parse(readFileSync(join(project.path, 'out/results.json'), 'utf8'));
  for (const { fail_reason: reason, extras } of results) {
    expect(reason).toMatch(/^it was ended: its program was killed from inside the sandbox \(SIG(?:KILL|TERM)\)/);
    expect(extras.ended).toBe('killed');
  }
  expect(llm.calls()).toBe(2); // the skill is loaded, and the line is run
});

it('tells it from an agent whose model never answered', async () => {
  await using llm = await startFakeAgentLLM({ policy: 'follow' });
  const program = '#!/bin/sh\n[ "$1" = --version ] && exec echo "2.1.197 (Claude Code)"\nkill -9 $$\n';
  using project = agentProject({ baseURL: llm.url, files: { 'bin/claude': program } });
  const { code, err } = await project.run('eval', '--skill', 'teapots');
  expect(code).not.toBe(0);
  expect(err).toMatch(/ended without a word, with (?:SIGKILL|exit code 137)/);
});
