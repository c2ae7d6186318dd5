import { agentPrograms } from 'skillopt/agents';
import { startFakeAgentLLM } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { COUNT, hasBubblewrap, installedAgents, MOST_USED, openShop, teapotsFor } from './agent-at-work.ts';
import { plantedPrograms } from './planted-programs.ts';

const rows = installedAgents();

/** What a repository tells agents, which is no program. */
const names = ['AGENTS.md', 'CLAUDE.md', 'GEMINI.md', 'QWEN.md'];
const instructions = Object.fromEntries(names.map((name) => [name, 'Be PLANTED-POLITE.\n']));

/** Tools that could only fail behind the gateway, and without a network. */
const OF_THE_WEB = /"name":"(?:WebSearch|WebFetch|google_web_search|web_fetch|webfetch)"/;

const WORK = ['count.txt', 'teapots.txt', 'where.txt'];

describe.each(rows)('$name at work', ({ name, model, installed }) => {
  if (installed.missing !== undefined) return it.skip(installed.missing);
  const { skillFolders: folders } = agentPrograms[name];
  const shop = { name, model, program: installed.program };

  it('row 1, 9: loads the skill that the prompt asks for, its script runs, and all that was used is counted', async () => {
    await using llm = await startFakeAgentLLM({ policy: 'follow', only: ['teapots'] });
    const { work } = await openShop({ ...shop, llm });
    const { run, changes } = await work(COUNT, { files: { ...plantedPrograms, ...instructions } });
    expect(run).toMatchObject({ ended: 'done', skillsLoaded: ['teapots'], turns: llm.calls() });
    expect(run.skillsOffered).toEqual([{ name: 'teapots', description: 'whole' }]);
    expect(changes['teapots.txt']).toContain('+seven');
    expect(changes['count.txt']).toContain('+counted');
    expect(run.usage).toEqual(llm.usage());
    const asked = llm.requests.map(({ text }) => text).join();
    expect(asked).toContain('PLANTED-POLITE');
    if (hasBubblewrap) expect(asked).not.toMatch(OF_THE_WEB);
    expect(Object.keys(changes).sort(), 'row 12: no program of the repository runs').toEqual(WORK);
  });

  it.runIf(MOST_USED.includes(name))('row 1, 9 with the model that it takes by itself', async () => {
    await using llm = await startFakeAgentLLM({ policy: 'follow' });
    const { work } = await openShop({ ...shop, model: undefined, llm });
    const { run, changes } = await work(COUNT);
    expect(run).toMatchObject({ ended: 'done', skillsLoaded: ['teapots'], turns: llm.calls() });
    expect(run.usage).toEqual(llm.usage());
    expect(Object.keys(changes).sort()).toEqual(WORK);
  });

  it('row 12: runs no program of the repository without a sandbox either, and with the skill in the workspace', async () => {
    await using llm = await startFakeAgentLLM({ policy: 'follow', only: ['teapots'] });
    const { work } = await openShop({ ...shop, llm, sandbox: 'none', scope: 'project' });
    const skill = teapotsFor(name);
    const text = skill.files['SKILL.md'].replaceAll('~/', '').replace(folders.user, folders.project);
    const skills = [{ files: { ...skill.files, 'SKILL.md': text } }];
    const { run, changes } = await work(COUNT, { files: plantedPrograms, skills });
    expect(run.skillsLoaded).toEqual(['teapots']);
    expect(Object.keys(changes).sort()).toEqual(WORK);
  });

  it('row 2: leaves the skill alone when the prompt is about something else', async () => {
    await using llm = await startFakeAgentLLM({ policy: 'follow', only: ['teapots'] });
    const { work } = await openShop({ ...shop, llm });
    const { run, changes } = await work('Say hello.');
    expect([run.skillsLoaded, run.text, changes]).toEqual([[], 'done', {}]);
    expect(run.usage).toEqual(llm.usage());
  });
});
