import { startFakeAgentLLM, startFakeLLM } from 'skillopt/testing';
import { expect, it, vi } from 'vitest';
import { agentProject, SKILL } from './agent-project.ts';

vi.setConfig({ testTimeout: 200_000 });

/** Sixteen: too few for a table of kinds. */
const queries = ['teapots', 'gutters'].flatMap((word) =>
  Array.from({ length: 8 }, (_, at) => ({
    query: `Number ${at}: would you kindly see to all of the ${word} that we have here in the big shop?`,
    should_trigger: word === 'teapots',
    split: at < 2 ? 'train' : at < 4 ? 'val' : 'test',
  })),
);
const edits = [{ op: 'replace', target: 'gutters', content: 'teapots' }];

it('reports recall and specificity with their counts however few queries there are, and names the queries', async () => {
  await using llm = await startFakeAgentLLM({ policy: 'follow' });
  await using far = await startFakeLLM(() => JSON.stringify({ patch: { reasoning: '', edits } }));
  const optimizer = { provider: 'compatible', model: 'optimizer', baseURL: far.baseURL };
  const settings = { env: 'trigger', tasks: 'queries.jsonl', parts: ['description'], gate: 'strict', finalPasses: 0 };
  using project = agentProject({
    baseURL: llm.url,
    config: { ...settings, optimizer },
    files: {
      'queries.jsonl': queries.map((query) => JSON.stringify(query)).join('\n'),
      'teapots/SKILL.md': SKILL.replace('How to count teapots in a shop.', 'All about gutters.'),
    },
  });
  const trained = await project.inTerminal(60, 'train', '--quiet');
  expect([trained.code, trained.err]).toEqual([0, expect.any(String)]);
  expect(trained.out).toContain('recall       0.0 → 100.0 %  loaded for 0 → 4 of 4 queries t…\n');
  const shown = await project.run('show', 'run', '--all');
  expect(shown.out).toContain(`recall       0.0 → 100.0 %  loaded for 0 → 4 of 4 queries that should load it
specificity  0.0 → 100.0 %  left alone for 0 → 4 of 4 queries that should not
`);
  expect(trained.out).toMatch(
    /^8 queries gained:\n {2}Number 4: would .* of the teapots that…\n[\s\S]*\n {2}and 5 more$/m,
  );
  expect(shown.out.match(/^ {2}Number \d: .* the teapots that we have here in the big shop\?$/gm)).toHaveLength(4);
  expect(shown.out).not.toContain('left out');
  const share = { of: 4, before: 0, after: 4 };
  const answer = JSON.parse((await project.run('show', 'run', '--json')).out);
  expect(answer).toMatchObject({ trigger: { recall: share, specificity: share } });
  expect(answer).not.toHaveProperty('loading');
});
