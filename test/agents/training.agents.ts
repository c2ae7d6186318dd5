import type { RunFact } from 'skillopt';
import { type FakeAgentLLM, type FakeLLM, startFakeAgentLLM, startFakeLLM } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { COUNT, installedAgents, MOST_USED, teapotsFor, urlFor } from './agent-at-work.ts';
import { openProject } from './open-project.ts';

const rows = installedAgents(MOST_USED);

/** Wrong in SKILL.md and in the script: a task passes when both are right. */
const WRONG = { 'SKILL.md': ['seven', 'six'], 'scripts/count.sh': ['counted', 'guessed'] } as const;
const VERIFY = 'test "$(cat teapots.txt)" = seven && test "$(cat count.txt)" = counted';
const task = (split: string, number: number) => ({
  id: `${split}-${number}`,
  split,
  prompt: `${COUNT} It is shop ${number}.`,
  verify: VERIFY,
});
const TASKS = ['train', 'val', 'test'].flatMap((split) => [1, 2].map((number) => task(split, number)));

/** Mends what is wrong, whatever it is asked. */
const EDITS = Object.entries(WRONG).map(([file, [right, wrong]]) => ({
  op: 'replace',
  file,
  target: `echo ${wrong}`,
  content: `echo ${right}`,
}));
const PROPOSAL = JSON.stringify({ patch: { reasoning: 'the count is wrong', edits: EDITS } });

type Models = { readonly llm: FakeAgentLLM; readonly optimizer: FakeLLM };

describe.each(rows)('a package trained with $name', ({ name, model, installed }) => {
  if (installed.missing !== undefined) return it.skip(installed.missing);
  const { program } = installed;

  async function trainedProject(workers: number, { llm, optimizer }: Models) {
    const config = {
      env: 'workspace',
      tasks: 'tasks.jsonl',
      skill: 'skills/teapots',
      parts: ['body', 'references', 'scripts'],
      target: { agent: name, model, path: program, baseURL: urlFor(name, llm), apiKeyEnv: 'FAR_KEY' },
      optimizer: { provider: 'compatible', model: 'optimizer', baseURL: optimizer.baseURL, apiKeyEnv: 'FAR_KEY' },
      ...{ numEpochs: 1, batchSize: 2, editBudget: 8, gate: 'strict', workers },
    };
    const project = openProject({
      'skillopt.config.json': JSON.stringify(config),
      'tasks.jsonl': TASKS.map((one) => JSON.stringify(one)).join('\n'),
      ...skillFiles(name),
    });
    const { code, err, out } = await project.run('train', '--run', 'runs/run');
    expect([code, err, out]).toEqual([0, expect.any(String), expect.any(String)]);
    return project;
  }

  it('row 3: fails all tasks, then passes them, with one worker and with four, and is put back', {
    timeout: 300_000,
  }, async () => {
    await using llm = await startFakeAgentLLM({ policy: 'follow', only: ['teapots'] });
    await using optimizer = await startFakeLLM(() => PROPOSAL);
    using alone = await trainedProject(1, { llm, optimizer });
    using together = await trainedProject(4, { llm, optimizer });
    const facts = await factsOf(alone);
    expect(scoresIn(facts)).toEqual({ before: 0, after: 1 });
    expect(await factsOf(together)).toEqual(facts);
    const applied = await together.run('apply', 'run', '--yes', '--scripts');
    expect(applied).toMatchObject({ code: 0 });
    expect(together.read('skills/teapots/SKILL.md')).toContain('echo seven >');
    expect(together.read('skills/teapots/scripts/count.sh')).toBe('#!/bin/sh\necho counted\n');
  });
});

/** Of the tasks that decide. */
const scoresIn = (facts: readonly RunFact[]) => ({
  before: facts.flatMap((fact) => (fact.type === 'baseline-end' ? [fact.evaluation.hard] : []))[0],
  after: facts.flatMap((fact) =>
    fact.type === 'stage-end' && fact.stage === 'evaluate' ? [fact.evaluation?.hard] : [],
  )[0],
});

/** How many there are is in the config, and in nothing else. */
const withoutWorkers = (fact: RunFact): RunFact =>
  fact.type === 'run-start' ? { ...fact, config: { ...fact.config, workers: 0 } } : fact;

const factsOf = async (project: ReturnType<typeof openProject>) => (await project.facts()).map(withoutWorkers);

function skillFiles(name: (typeof MOST_USED)[number]): Record<string, string> {
  const files = Object.entries({ ...teapotsFor(name).files, 'references/shops.md': '# Shops\n\nThey open at nine.\n' });
  return Object.fromEntries(
    files.map(([path, text]) => {
      const [right, wrong] = path in WRONG ? WRONG[path as keyof typeof WRONG] : ['', ''];
      return [`skills/teapots/${path}`, text.replace(`echo ${right}`, `echo ${wrong}`)];
    }),
  );
}
