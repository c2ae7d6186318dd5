import { startFakeAgentLLM, startFakeLLM } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { installedAgents, urlFor } from './agent-at-work.ts';
import { openProject } from './open-project.ts';

const rows = installedAgents(['claude']);

/** What the skill is for, and what others are for: the first description claims one of theirs, and not all of its own. */
const OWN = ['teapots', 'kettles', 'samovars'];
const OTHERS = { plates: 'saucers', windows: 'curtains', roofs: 'gutters' };
const FIRST = 'For kettles and saucers.';

const WAYS = { train: 'See to the', val: 'Do take care of', test: 'Can you tidy' };
const queries = Object.entries(WAYS).flatMap(([split, way]) =>
  [...OWN, ...Object.values(OTHERS)].map((word) => ({
    split,
    query: `${way} ${word}?`,
    should_trigger: OWN.includes(word),
  })),
);

const skillOf = (name: string, description: string) =>
  `---\nname: ${name}\ndescription: ${description}\n---\n\n# ${name}\n`;
const neighbours = Object.entries(OTHERS).map(([name, word]) => [
  `others/${name}/SKILL.md`,
  skillOf(name, `For ${word}.`),
]);

/** Takes the last word of each query that failed for the cause. */
function analyst(prompt: string): string {
  const failed = prompt.matchAll(/question: .* (\w+)\?\n(?:(?!question: )[\s\S])*?(was not loaded|was loaded, and)/g);
  const edits = [...failed].map(([, word, reason]) =>
    reason === 'was not loaded' ? { op: 'append', content: ` For ${word}.` } : { op: 'delete', target: ` and ${word}` },
  );
  return JSON.stringify({ patch: { reasoning: '', edits } });
}

describe.each(rows)('a description trained with $name', ({ name, model, installed }) => {
  if (installed.missing !== undefined) return it.skip(installed.missing);

  it('row 17: loads for queries it never saw as it should, among other skills, and both kinds are told apart', {
    timeout: 300_000,
  }, async () => {
    await using llm = await startFakeAgentLLM({ policy: 'follow', only: ['crockery', ...Object.keys(OTHERS)] });
    await using optimizer = await startFakeLLM(({ messages }) => analyst(messages.at(-1)!.content));
    const far = { apiKeyEnv: 'FAR_KEY' };
    const config = {
      ...{ env: 'trigger', tasks: 'queries.jsonl', skill: 'skills/crockery', parts: ['description'] },
      workspace: { neighbours: ['others'] },
      target: { agent: name, model, path: installed.program, baseURL: urlFor(name, llm), ...far },
      optimizer: { provider: 'compatible', model: 'optimizer', baseURL: optimizer.baseURL, ...far },
      ...{
        numEpochs: 1,
        batchSize: 6,
        editBudget: 4,
        gate: 'strict',
        workers: 2,
        finalPasses: 0,
        proposalsPerBatch: 1,
      },
    };
    using project = openProject({
      'skillopt.config.json': JSON.stringify(config),
      'queries.jsonl': queries.map((query) => JSON.stringify(query)).join('\n'),
      'skills/crockery/SKILL.md': skillOf('crockery', FIRST),
      ...Object.fromEntries(neighbours),
    });
    const { code, err } = await project.run('train', '--run', 'runs/run');
    expect([code, err]).toEqual([0, expect.any(String)]);
    const { trigger, bestSkill } = JSON.parse((await project.run('show', 'run', '--json')).out);
    expect(trigger).toEqual({
      recall: { of: 3, before: 1, after: 3 },
      specificity: { of: 3, before: 2, after: 3 },
    });
    const results: Result[] = JSON.parse(project.read('runs/run/test_eval_best/results.json'));
    expect(results.flatMap(({ extras }) => extras.others).sort()).toEqual(Object.keys(OTHERS).sort());
    const words = wordsOf(bestSkill);
    expect([...OWN, ...Object.values(OTHERS)].filter((word) => words.includes(word))).toEqual(OWN);
  });
});

type Result = { readonly extras: { readonly others: readonly string[] } };

const wordsOf = (skill: string) => /^description: (.*)$/m.exec(skill)![1]!.split(/\W+/);
