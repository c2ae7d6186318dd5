import { memoryRun, parseConfig, SkillOptTrainer } from 'skillopt';
import { type QaItemInput, SimpleQAEnv } from 'skillopt/envs';
import { commandJudge, rubricJudge, TaskJudge, type TaskJudgeInput } from 'skillopt/judges';
import { scripted } from 'skillopt/testing';
import { probeSandbox, sandboxes } from 'skillopt/workspaces';
import { describe, expect, it, test } from 'vitest';
import { rolloutKey } from '../../../src/pipeline/rollout/rollout-memory.ts';
import { loadEnv, loadProject } from '../../../src/project/index.ts';
import { expectEvery } from '../../support/expect-every.ts';
import { isMissing } from '../../support/machine.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const lacksBubblewrap = isMissing('bubblewrap', (await probeSandbox()).auto !== undefined);
const sandbox = sandboxes.none();
const judges = [rubricJudge(), commandJudge({ sandbox })] as never;
const task = (judge: unknown, id = 'q1'): QaItemInput => ({
  id,
  question: 'Write it.',
  judge: judge as TaskJudgeInput,
});
const envOf = (...trainItems: QaItemInput[]) => new SimpleQAEnv({ trainItems, valItems: [], testItems: [], judges });

/** What comes of a reply, and of what a judge model says. */
async function rollOut(judge: unknown, reply: string, ...verdicts: string[]) {
  const env = envOf(task(judge));
  let asked = 0;
  const model = scripted('judge', () => verdicts[asked++ % verdicts.length] ?? '');
  const target = scripted('target', () => reply);
  const context = { skill: '# Skill', target, judge: model, extras: {}, signal: new AbortController().signal };
  return env.rolloutOne({ item: env.getItems('train')[0]!, ...context });
}

describe('a task with rules', () => {
  const rule = (...checks: unknown[]) => ({ kind: 'rule', checks });

  it('is scored on its whole reply, and needs no answers', async () => {
    const judge = rule({ op: 'section_present', arg: 'Key Risks' }, { op: 'max_chars', arg: 40 });
    expect(await rollOut(judge, '# Key Risks\nNone.')).toMatchObject({
      hard: 1,
      soft: 1,
      predictedAnswer: '# Key Risks\nNone.',
    });
    expect(await rollOut(judge, 'None.')).toMatchObject({
      hard: 0,
      soft: 0.5,
      failReason: 'section missing: no heading ends with "Key Risks"',
    });
  });

  test('7: what analysts read says which criterion failed, and no string that it looks for', async () => {
    const checks = [
      { op: 'regex', arg: '^zq{1,3}$' },
      { op: 'contains', arg: 'xylophone' },
      { op: 'contains', arg: 'date', says: 'the date is missing' },
    ];
    const { failReason, referenceText, extras } = await rollOut(rule(...checks), 'no');
    expect(failReason).toBe(
      'wrong form, required words missing: it does not have a form that is required, which is not shown here; ' +
        'it lacks words that are required, which are not shown here; the date is missing',
    );
    expect([referenceText, extras]).toEqual([
      undefined,
      { failedChecks: 'regex=^zq{1,3}$; contains=xylophone; contains=date' },
    ]);
  });

  test('30: a pattern that would take too long on an answer gives no score', async () => {
    const judge = rule({ op: 'regex', arg: 'a{1500}a{1500}b' });
    expect(await rollOut(judge, 'a'.repeat(100_000))).toMatchObject({ errored: true, unjudged: true });
  });

  it('is refused when it is read, with the place and what is wrong', () => {
    const bad = task(rule({ op: 'contain', arg: 'x' }, { op: 'regex', arg: '(?=a)' }));
    expect(() => envOf(bad)).toThrow(
      /item 1 of train: "judge.checks.0" has the unknown op "contain".*\n.*"judge.checks.1" .*"\(\?=" is a lookahead/,
    );
    expect(() => envOf(task({ kind: 'ruel' }))).toThrow(
      'must have a kind: rule, exact, contains, regex, number, json-schema, rubric, command or checks',
    );
    expect(() => envOf(task(rule()))).toThrow('must have a check');
  });
});

describe('a task with a reference', () => {
  it('passes when the reply holds it', async () => {
    const judge = { kind: 'exact', reference: 'Remove dead code' };
    expect(await rollOut(judge, 'We remove dead   code!')).toMatchObject({ hard: 1, soft: 1 });
    expect((await rollOut(judge, 'We remove dead cats')).soft).toBeCloseTo(2 / 3);
  });
});

describe('a task with a rubric', () => {
  const judge = { kind: 'rubric', rubric: 'It is short.' };

  it('passes from 0.8 on', async () => {
    expect(await rollOut(judge, 'a', '{"score": 0.9}')).toMatchObject({ hard: 1, soft: 0.9 });
    expect(await rollOut(judge, 'a', '{"score": 0.7, "reason": "long"}')).toMatchObject({
      hard: 0,
      soft: 0.7,
      failReason: 'judged below 0.8: long',
    });
  });

  test.each(['{"score": 7}', '{"score": NaN}', '{"score": -0.1}', '{"score": "1"}', '{"score": null}', 'fine', ''])(
    '6: %j is no score, and the result is missing rather than 0',
    async (said) => {
      expect(await rollOut(judge, 'a', said)).toMatchObject({ errored: true, unjudged: true });
    },
  );

  it('counts in the estimate as often as there are such tasks', () => {
    const plain = { id: 'q2', question: 'Capital of France?', answers: ['Paris'] };
    expect([envOf(task(judge), plain).judgeCalls, envOf(plain).judgeCalls]).toEqual([1, 0]);
  });
});

describe('a task with a command', () => {
  const command = (text: string, more: object = {}) => ({ kind: 'command', command: text, ...more });

  it('passes by exit code, with the answer in a file and on standard input', async () => {
    expect(await rollOut(command('grep -q yes answer.txt && grep -q yes'), 'yes')).toMatchObject({ hard: 1, soft: 1 });
    const { failReason, ...rest } = await rollOut(command('grep -q yes'), 'no');
    expect([rest.hard, rest.errored, failReason]).toEqual([0, undefined, "failed a command's check: exit code 1"]);
  });

  it('is scored by the last line, with files of its own', async () => {
    const scored = (line: string) =>
      rollOut(command('cat told', { verdict: 'stdout', files: { told: `noise\n${line}\n` } }), 'a');
    expect(await scored('0.25')).toMatchObject({ hard: 0.25, soft: 0.25 });
    expect(await scored('{"hard": 0, "soft": 0.5, "reason": "too late"}')).toMatchObject({
      hard: 0,
      soft: 0.5,
      failReason: "failed a command's check: too late",
    });
  });

  test.each([
    ['echo 7', { verdict: 'stdout' }],
    ['echo NaN', { verdict: 'stdout' }],
    ['echo fine', { verdict: 'stdout' }],
    ['true', { verdict: 'stdout' }],
    ['echo 1; exit 1', { verdict: 'stdout' }],
    ['no-such-program-here', {}],
    ['kill -9 $$', {}],
    ['sleep 30', { timeoutMs: 200 }],
  ])('6: without a verdict (%s) the result is missing rather than 0', async (text, more) => {
    expect(await rollOut(command(text, more), 'a')).toMatchObject({ errored: true, unjudged: true });
  });

  it.each([
    ['crashes', 'grep -q . && kill -SEGV $$; false', {}, 'was ended by SIGSEGV'],
    ['hangs', 'grep -q . && sleep 60; false', { timeoutMs: 500 }, 'more than 500 ms'],
    ['ends with 127', 'grep -q . && exit 127; false', {}, 'exit code 127'],
    ['prints no verdict', 'grep . || echo 0', { verdict: 'stdout' }, 'no verdict: "a"'],
  ])('that %s on an answer, and not on none, has met a bad one: 0', async (_, text, more, reason) => {
    const { failReason, ...rest } = await rollOut(command(text, more), 'a');
    expect([rest.hard, rest.errored, failReason]).toEqual([0, undefined, expect.stringContaining(reason)]);
    const stops = commandJudge({ sandbox, onVerifierCrash: 'stop' });
    const judge = TaskJudge.parse(command(text, more)) as never;
    expect(await stops.score({ judge, question: '', answer: 'a' })).toMatchObject({ errored: true, unjudged: true });
  });

  it('is refused before the first rollout when there is no sandbox', async () => {
    const nowhere = commandJudge({ sandbox: sandboxes.bubblewrap({ path: '/nowhere' }) });
    const items = { trainItems: [task(command('true'))], valItems: [task(command('true'), 'v')], testItems: [] };
    const env = new SimpleQAEnv({ ...items, judges: [nowhere] as never });
    const target = scripted('target', () => 'a');
    const trainer = new SkillOptTrainer({
      config: {},
      env: env as never,
      target,
      optimizer: target,
      store: memoryRun(),
    });
    await expect(trainer.train()).rejects.toMatchObject({ code: 'SANDBOX_UNAVAILABLE' });
    expect(target.requests).toEqual([]);
  });

  it.skipIf(lacksBubblewrap)('of a project runs in bubblewrap', async () => {
    const line = {
      id: 'a',
      question: 'x',
      split: 'train',
      judge: command('test ! -e "$HOME/.bashrc" && test "$(pwd)" = /work'),
    };
    using folder = tempFolder({ 'tasks.jsonl': JSON.stringify(line), 'skillopt.config.yaml': 'tasks: tasks.jsonl\n' });
    const env = await loadEnv(await loadProject({ flags: {}, cwd: folder.path }));
    await env.setup?.(parseConfig({}));
    const [item] = await env.getItems('train');
    const target = scripted('target', () => 'a');
    const context = { skill: '', target, extras: {}, signal: new AbortController().signal };
    expect(await env.rolloutOne({ item: item!, ...context })).toMatchObject({ hard: 1 });
    expect(env.version).toContain('judges command 1 in bubblewrap');
  });
});

describe('judges that nobody can carry out', () => {
  it('are named when the tasks are read', () => {
    const items = { trainItems: [task({ kind: 'rubric', rubric: 'x' })], valItems: [], testItems: [] };
    expect(() => new SimpleQAEnv(items)).toThrow('task q1 has a judge of the kind rubric, and there is none');
  });
});

it('learns from rules: one that failed comes to pass', async () => {
  const attempts: string[] = [];
  const target = scripted('target', ({ messages }) => {
    attempts.push(messages.at(-1)!.content);
    return messages[0]!.content.includes('heading') ? '# Risks\nNone.' : 'None.';
  });
  const optimizer = scripted('optimizer', () =>
    JSON.stringify({ patch: { reasoning: 'x', edits: [{ op: 'append', content: 'Write a heading.' }] } }),
  );
  const items = (split: string) =>
    Array.from({ length: 4 }, (_, k) =>
      task({ kind: 'rule', checks: [{ op: 'section_present', arg: 'Risks' }] }, `${split}${k}`),
    );
  const env = new SimpleQAEnv({
    trainItems: items('t'),
    valItems: items('v'),
    testItems: items('e'),
    initialSkill: '# Skill',
  });
  const config = { numEpochs: 1, batchSize: 4, gate: 'strict' } as const;
  const { tests } = await new SkillOptTrainer({
    config,
    env: env as never,
    target,
    optimizer,
    store: memoryRun(),
  }).train();
  expect([tests.baseline?.hard, tests.best?.hard]).toEqual([0, 1]);
  expectEvery(attempts, (text) => text === 'Write it.');
});

it('is another task to the cache when its judge is another', async () => {
  const keyOf = (bound: number) => {
    const env = envOf(task({ kind: 'rule', checks: [{ op: 'max_chars', arg: bound }] }));
    const [item] = env.getItems('train');
    const target = scripted('target', () => '');
    return rolloutKey(
      { env: env as never, item: item!, skillHash: '', sampleIndex: 0 } as never,
      { target, extras: {} } as never,
    );
  };
  expect(keyOf(5)).toBe(keyOf(5));
  expect(keyOf(5)).not.toBe(keyOf(6));
});
