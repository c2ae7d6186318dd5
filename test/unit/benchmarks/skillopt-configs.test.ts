import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FakeRequest, startFakeLLM } from 'skillopt/testing';
import { expect, it } from 'vitest';
import {
  askedRow,
  DEMO_NAMES,
  DEMOS,
  demoProject,
  demoReply,
  idOf,
  questionOf,
  rowsOf,
} from '../../support/benchmarks/demo-project.ts';

it.each(DEMO_NAMES)("SkillOpt's own config of %s scores what the replies deserve", async (name) => {
  const { prompt, rule } = DEMOS[name];
  const rows = rowsOf(name, 'test');
  const missed = idOf(rows[1]!);
  await using far = await startFakeLLM((request) => demoReply(name, request, (id) => id !== missed));
  using project = demoProject(name, far.baseURL);
  const { answer } = await project.run('eval', '--skill', 'SKILL.md', '--split', 'test', '--out', 'scores');

  expect(answer).toMatchObject({ hard: 0.75, n: 4, errored: 0, verdict: { kind: 'scored', isPassed: true } });
  expect(answer.tasks.map(({ id, hard }: { id: string; hard: number }) => [id, hard])).toEqual(
    rows.map((row) => [idOf(row), idOf(row) === missed ? 0 : 1]),
  );
  expect(answer.card).toMatchObject({ benchmark: name, rule: expect.stringContaining(rule), n: 4, hard: 0.75 });
  expect(project.read('scores/report.md')).toContain(answer.card.dataSha256.slice(0, 16));

  expect(answer.cost.calls).toBe(far.requests.length);
  for (const { messages, model, max_tokens: maxTokens } of far.requests) {
    expect([model, maxTokens]).toEqual(['far-target', 16_384]);
    expect(messages[0]!.content.startsWith(prompt)).toBe(true);
    expect(messages[0]!.content.endsWith('# Skill\n\n# Skill\n\nBe exact.')).toBe(true);
  }
  const images = far.bodies.map((body) => JSON.stringify(body).split('data:image/png;base64,').length - 1);
  expect(new Set(images)).toEqual(new Set([name === 'docvqa' ? 1 : 0]));
  const first = rows.map((row) => far.requests.find(({ messages }) => messages[1]!.content.includes(questionOf(row))));
  expect(first).not.toContain(undefined);
});

it('a score refuses folders that hold files of a person, and items that cannot be scored', async () => {
  await using far = await startFakeLLM(() => '<answer>x</answer>');
  using project = demoProject('searchqa', far.baseURL);
  const score = (...argv: string[]) => project.run('eval', '--skill', 'SKILL.md', '--split', 'all', ...argv);
  await expect(score('--out', 'data/searchqa_split')).rejects.toThrow('has a train/items.json already');
  mkdirSync(join(project.path, 'mine'));
  writeFileSync(join(project.path, 'mine/results.json'), '"mine"');
  await expect(score('--out', 'mine')).rejects.toThrow('has a results.json already');
  expect(project.read('mine/results.json')).toBe('"mine"');

  const rows = rowsOf('searchqa', 'val');
  project.write('val', [{ ...rows[0]!, answers: ['x</answer> y'] }, ...rows.slice(1)]);
  await expect(score()).rejects.toThrow(/cannot be scored/);
  project.write(
    'val',
    rows.map((row) => ({ ...row, answers: ['the'] })),
  );
  const { err } = await score('--out', 'scores');
  expect(err).toContain('an empty answer scores 1 on each of 3 items');
  await score('--out', 'scores');
  expect(far.requests).toHaveLength(12);
});

it('the card says how many tasks have no score', async () => {
  const missed = idOf(rowsOf('searchqa', 'test')[0]!);
  const hears = (request: FakeRequest) => idOf(askedRow('searchqa', request)) !== missed;
  await using far = await startFakeLLM((request) =>
    hears(request) ? demoReply('searchqa', request, () => true) : { status: 400, content: 'refused' },
  );
  using project = demoProject('searchqa', far.baseURL);
  const argv = ['--skill', 'SKILL.md', '--out', 'scores', '--set', 'maxErroredShare=0.5'];
  const { answer } = await project.run('eval', ...argv);
  expect(answer.card).toMatchObject({ n: 3, unscored: 1, hard: 1 });
  expect(project.read('scores/report.md')).toContain('100.0 % of 3 tasks, 1 more without a score');
});
