import { startFakeLLM } from 'skillopt/testing';
import { expect, it } from 'vitest';
import {
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
