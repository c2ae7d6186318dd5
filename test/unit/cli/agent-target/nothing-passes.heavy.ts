import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startFakeAgentLLM } from 'skillopt/testing';
import { describe, expect, it, vi } from 'vitest';
import { agentProject, shopTask, taskRows } from './agent-project.ts';

vi.setConfig({ testTimeout: 200_000 });

const TWO_EACH = { 'tasks.jsonl': taskRows(shopTask, 2) };
const NEXT = /^next: {2}npx skillopt show run --task t\d\b/m;

describe('where not one attempt is right', () => {
  it.each([
    ['maxUsd', { maxUsd: 0.000001 }, 'it had spent what it may (limits.maxUsd, limits.maxTokens)'],
    ['maxTurns', { maxTurns: 1 }, 'it had used all its turns (limits.maxTurns)'],
  ])('says that attempts were ended by %s, and how to see one', async (_, limits, reason) => {
    await using llm = await startFakeAgentLLM({ policy: 'follow' });
    using project = agentProject({ baseURL: llm.url, files: TWO_EACH, target: { limits } });
    const { code, out, err } = await project.run('train', '--quiet');
    expect([code, err]).toEqual([1, expect.any(String)]);
    expect(out).toMatch(/^Broken: not one of \d+ tasks was even partly right, before or after: (\d+) of \1 attempts/);
    expect(out).toContain(`failed for one reason: ${reason}.`);
    expect(out).not.toContain('does not answer');
    const [next = ''] = NEXT.exec(out) ?? [];
    const shown = await project.run(...next.split(' ').slice(4));
    expect(shown).toMatchObject({ code: 0, out: expect.stringContaining('it was ended') });
    const verdict = JSON.parse((await project.run('show', 'run', '--json')).out).verdict;
    expect(verdict).toMatchObject({ kind: 'broken', reason: 'nothing-passes', failure: { reason } });
    expect(readFileSync(join(project.path, 'runs/run/report.md'), 'utf8')).toContain(`one reason: ${reason}.`);
  });

  it('says what the verifier says of all of them', async () => {
    await using llm = await startFakeAgentLLM({ policy: 'follow' });
    const check = 'echo "no file invoice.txt <img src=x>"\nexit 1\n';
    using project = agentProject({ baseURL: llm.url, files: { ...TWO_EACH, 'tests/check.sh': check } });
    const { out } = await project.run('train', '--quiet');
    expect(out).toMatch(/(\d+) of \1 attempts failed for one reason: .*no file invoice\.txt <img src=x>/);
    expect(out).toMatch(NEXT);
    expect(readFileSync(join(project.path, 'runs/run/report.md'), 'utf8')).toContain('invoice.txt &lt;img');
  });

  it('says that the agent does not answer where there is not a word of it', async () => {
    await using llm = await startFakeAgentLLM({ script: [{ text: '' }] });
    using project = agentProject({ baseURL: llm.url, files: TWO_EACH });
    const { out } = await project.run('train', '--quiet');
    expect(out).toMatch(/the model or agent does not answer, (\d+) of \1 attempts without a word\./);
    expect(out).toMatch(/^next: {2}npx skillopt doctor/m);
  });
});
