import { startFakeLLM } from 'skillopt/testing';
import { expect, it } from 'vitest';
import { askedRow, demoProject, demoReply, idOf, rowsOf } from '../../support/benchmarks/demo-project.ts';

type Project = ReturnType<typeof demoProject>;

/** What is asked about each item of the test, with its choices as a model reads them. */
async function questions(settings: readonly string[], arrange: (project: Project) => void = () => {}) {
  await using far = await startFakeLLM((request) => demoReply('livemath', request, () => true));
  using project = demoProject('livemath', far.baseURL);
  arrange(project);
  const set = settings.flatMap((one) => ['--set', one]);
  const { answer } = await project.run('eval', '--skill', 'SKILL.md', '--split', 'test', ...set);
  expect(answer.hard).toBe(1);
  return Object.fromEntries(
    far.requests.map((request) => [idOf(askedRow('livemath', request)), request.messages[1]!.content]),
  );
}

it('shows the choices of an item in an order that its id and shuffle_seed alone decide', async () => {
  const [first, ...others] = rowsOf('livemath', 'test');
  const usual = await questions([]);
  expect(Object.keys(usual)).toHaveLength(4);
  const unrelated = ['train.seed=7', 'env.split_seed=7', 'env.workers=1', 'train.batch_size=1'];
  expect(await questions(unrelated)).toEqual(usual);
  const elsewhere = (project: Project) => {
    project.write('test', [...others, ...rowsOf('livemath', 'val'), first!]);
    project.write('val', [{ ...first!, id: 'another' }]);
  };
  expect(await questions([], elsewhere)).toMatchObject(usual);

  expect(await questions(['env.shuffle_seed=7'])).not.toEqual(usual);
  const renamed = (project: Project) => project.write('test', [{ ...first!, id: 'demo:900' }, ...others]);
  const { [idOf(first!)]: ofAnotherId, ...rest } = await questions([], renamed);
  const { [idOf(first!)]: ofItsOwn, ...same } = usual;
  expect(rest).toEqual(same);
  expect(ofAnotherId).not.toBe(ofItsOwn);
});
