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

it('says before a run that queries are few, and contradicts no test score with «nothing left to gain»', async () => {
  await using llm = await startFakeAgentLLM({ policy: 'follow' });
  const rows = ['train', 'val', 'test'].flatMap((split) =>
    ['teapots', 'gutters'].map((word) => ({
      query: `Please see to the ${word} of the ${split}.`,
      should_trigger: (word === 'teapots') === (split !== 'test'), // the test asks for what the description does not say
      split,
    })),
  );
  using project = agentProject({
    baseURL: llm.url,
    config: { env: 'trigger', tasks: 'queries.jsonl', parts: ['description'], gate: undefined, finalPasses: undefined },
    files: { 'queries.jsonl': rows.map((row) => JSON.stringify(row)).join('\n') },
  });
  const few = /Few queries: val has 1 query that should load the skill and 1 that should not, test has 1 query/;
  const flat = (text: string) => text.replace(/\s+/g, ' ');
  expect(flat((await project.run('doctor')).out)).toMatch(few);
  const { out, err } = await project.run('train', '--quiet');
  expect(flat(err)).toMatch(few);
  expect(out).toContain(
    'No change: the 2 tasks it is chosen by were at 100.0 % already, so nothing was tried. Your skill stays as it was. So few tasks say little: at least 10 to choose by and 10 to test with are advised.',
  );
  expect(out).not.toContain('nothing left to gain');
});
