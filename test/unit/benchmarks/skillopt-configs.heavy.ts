import { startFakeLLM } from 'skillopt/testing';
import { expect, it } from 'vitest';
import {
  allRows,
  DEMO_NAMES,
  DEMOS,
  demoProject,
  demoReply,
  questionOf,
  rowsOf,
} from '../../support/benchmarks/demo-project.ts';

const RULE = 'Read the question twice.';

it.each(DEMO_NAMES)("SkillOpt's own config of %s trains a rule that helps, from training items alone", async (name) => {
  const { prompt, rule } = DEMOS[name];
  await using far = await startFakeLLM((request) => {
    if (request.model === 'far-optimizer') return JSON.stringify({ edits: [{ op: 'append', content: RULE }] });
    return demoReply(name, request, () => request.messages[0]!.content.includes(RULE));
  });
  using project = demoProject(name, far.baseURL);
  const short = ['train.num_epochs=1', 'train.train_size=4'].flatMap((one) => ['--set', one]);
  const { answer } = await project.run('train', ...short);

  const { verdict } = answer;
  expect(verdict).toMatchObject({ kind: 'better', comparison: { on: 'test', tasks: 4, before: 0, after: 1 } });
  expect(verdict.card).toMatchObject({ benchmark: name, rule: expect.stringContaining(rule), n: 4, hard: 1 });
  expect(answer).toMatchObject({ totalSteps: 1, totalAccepts: 1, baselineSelectionHard: 0, bestSelectionHard: 1 });
  expect(project.read(answer.bestSkillPath)).toContain(RULE);
  expect(project.read(`${answer.outRoot}/report.md`)).toContain(verdict.card.dataSha256.slice(0, 16));

  expect(verdict.calls).toBe(far.requests.length);
  const asked = (model: string) =>
    far.requests.filter((request) => request.model === model).map(({ messages }) => messages);
  expect(asked('far-target').filter(([system]) => !system!.content.startsWith(prompt))).toEqual([]);
  const analysed = JSON.stringify(asked('far-optimizer').flat());
  const shown = allRows(name).filter((row) => analysed.includes(JSON.stringify(questionOf(row)).slice(1, -1)));
  expect(shown).toEqual(rowsOf(name, 'train'));
});
