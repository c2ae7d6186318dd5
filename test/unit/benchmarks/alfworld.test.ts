import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { type ChatModel, ModelCallError, type RolloutContext } from 'skillopt';
import { scripted } from 'skillopt/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { extractAction, projectAction, taskTypeOf, thoughtOf } from '../../../src/benchmarks/alfworld/actions.ts';
import { alfworld } from '../../../src/benchmarks/alfworld/alfworld.ts';
import { taskOf, turnText } from '../../../src/benchmarks/alfworld/texts.ts';
import type { BenchmarkEnv } from '../../../src/benchmarks/index.ts';
import { loadEnv, loadProject } from '../../../src/project/index.ts';
import { goldenCases } from '../../support/golden-cases.ts';
import { tempFolder } from '../../support/temp-folder.ts';

type Replied = { reply: string; extracted: string | null; sent: { action: string; valid: number } };
type Typed = { gamefile: string; taskType: string };

const DEMO = 'examples/benchmarks/alfworld';
const ROOT = process.cwd();

describe('the golden cases of ALFWorld', () => {
  const cases = goldenCases<Replied | Typed>('alfworld-actions');

  /** Left out: `sent.valid`, which says whether a reply thinks in tags and has no Chinese character. Nothing reads it there. */
  it('name the same actions, all of them', () => {
    const replies = cases.filter((one) => 'reply' in one);
    expect(replies.length).toBe(15);
    for (const { reply, extracted, sent } of replies) {
      expect(extractAction(reply) ?? null, reply).toBe(extracted);
      expect(projectAction(extractAction(reply)), reply).toBe(sent.action);
    }
  });

  it('name the same task types, all of them', () => {
    const games = cases.filter((one) => 'gamefile' in one);
    expect(games.length).toBe(8);
    for (const { gamefile, taskType } of games) expect(taskTypeOf(gamefile)).toBe(taskType);
  });
});

describe('an action in a reply', () => {
  const parts = fc.constantFrom('<action>', '</action>', '<think>', '</think>', ' ', '\n', 'Go', 'é', '<', '');

  it('is what a lazy pattern finds, in any text', () => {
    fc.assert(
      fc.property(fc.array(parts), (pieces) => {
        const reply = pieces.join('');
        const found = /<action>(.*?)<\/action>/s.exec(reply)?.[1]?.trim();
        expect(extractAction(reply)).toBe(found);
        expect(thoughtOf(reply)).not.toMatch(/<action>|<\/?think>/);
      }),
    );
  });

  it('is found in hostile text in one pass', () => {
    const hostile = '<action>'.repeat(1_000_000);
    expect(extractAction(hostile)).toBeUndefined();
    expect(thoughtOf(`${'<think>'.repeat(500_000)}<action>`)).toBe('');
  });
});

describe('a turn', () => {
  const scene = { observation: 'A desk.', admissible: ['look', 'help', 'go to desk 1'] };
  const steps = ['one', 'two', 'three'].map((action) => ({ observation: `before ${action}`, action }));

  it('has the task, the last two steps, what is seen and what can be done, apart from help', () => {
    expect(turnText({ task: 'put a mug away', steps, maxSteps: 50, scene })).toMatchInlineSnapshot(`
      "Task: put a mug away

      Your last steps:

      Step 2
      You saw: before two
      You did: two

      Step 3
      You saw: before three
      You did: three

      This is step 4 of 50. You see now:
      A desk.

      Possible actions:
      look
      go to desk 1"
    `);
  });

  it('takes the task from the end of the first scene, or all of it', () => {
    expect(taskOf('You are in a room.\n\nYour task is to: put a mug on a desk.\n')).toBe('put a mug on a desk.');
    expect(taskOf(' Find the door. ')).toBe('Find the door.');
  });
});

type Item = {
  readonly id: string;
  readonly game: string;
  readonly walkthrough: readonly string[];
  readonly taskType: string;
};

const loadDemo = async (config = `${DEMO}/skillopt.config.yaml`, flags: object = {}) =>
  (await loadEnv(await loadProject({ flags: { ...flags }, config, cwd: ROOT }))) as unknown as BenchmarkEnv;

const attempt = (env: BenchmarkEnv, item: Item, target: ChatModel, more: Partial<RolloutContext> = {}) =>
  env.rolloutOne({ item, skill: 'Be quick.', target, extras: {}, signal: AbortSignal.any([]), ...more });

const walker = ({ walkthrough }: Item) =>
  scripted('oracle', ({ messages }) => {
    const step = Number(/^This is step (\d+)/m.exec(messages.at(-1)!.content)![1]);
    return `<think>as written</think><action>${walkthrough[step - 1]}</action>`;
  });

describe('the demo of ALFWorld', () => {
  let env: BenchmarkEnv;
  let items: Item[];
  beforeAll(async () => {
    env = await loadDemo();
    items = (
      await Promise.all(['train', 'val', 'test'].map((split) => env.getItems(split)))
    ).flat() as unknown as Item[];
  });
  afterAll(() => env.close?.());

  it('has twelve games of six types, and no warning', () => {
    expect(items).toHaveLength(12);
    expect(env.getTaskTypes!()).toHaveLength(6);
    expect(env.warnings).toEqual([]);
    expect(readFileSync(`${DEMO}/world.mjs`, 'utf8').split('\n').length).toBeLessThan(85);
  });

  it('is won by all who follow the walkthrough', async () => {
    const results = await Promise.all(items.map((item) => attempt(env, item, walker(item))));
    expect(results.map(({ hard, soft, failReason }) => [hard, soft, failReason])).toEqual(
      items.map(() => [1, 1, undefined]),
    );
    expect(results.map(({ nTurns }) => nTurns)).toEqual(items.map(({ walkthrough }) => walkthrough.length));
    expect(results.map(({ taskType }) => taskType)).toEqual(items.map(({ taskType }) => taskType));
  });

  it('is lost by all who say nothing, and the reason counts their replies', async () => {
    const mute = scripted('mute', () => '<answer></answer>');
    const results = await Promise.all(items.map((item) => attempt(env, item, mute)));
    for (const { hard, nTurns, failReason } of results) {
      expect([hard, nTurns]).toEqual([0, 50]);
      expect(failReason).toBe(
        'the task was not done after 50 steps, and 50 are allowed; 50 of 50 replies named no action',
      );
    }
  });

  it('shows analysts what was seen, thought and done', async () => {
    const { conversation, predictedAnswer } = await attempt(env, items[0]!, walker(items[0]!));
    expect(conversation).toHaveLength(1 + 2 * items[0]!.walkthrough.length);
    expect(conversation!.slice(0, 3)).toEqual([
      { role: 'user', content: expect.stringContaining('Your task is to: put a mug on a shelf.') },
      { role: 'assistant', content: 'as written' },
      { action: 'go to desk 1', env_feedback: 'On the desk 1, you see a mug 1, a pen 1.' },
    ]);
    expect(predictedAnswer).toBe(items[0]!.walkthrough.join(' | '));
  });

  it('puts rules and skill first, which all turns share, and never the walkthrough', async () => {
    const target = walker(items[0]!);
    await attempt(env, items[0]!, target);
    const systems = new Set(target.requests.map(({ messages }) => messages[0]!.content));
    expect(systems.size).toBe(1);
    expect([...systems][0]).toMatch(/<action><\/action>[\s\S]*# Skill\n\nBe quick\.$/);
    expect(JSON.stringify(target.requests[0])).not.toContain('take mug 1');
  });

  it('gives no score when the model cannot be reached', async () => {
    const away: ChatModel = { id: 'away', complete: () => Promise.reject(new ModelCallError('no', { status: 500 })) };
    await expect(attempt(env, items[0]!, away)).rejects.toBeInstanceOf(ModelCallError);
  });

  it('is tried before a run: the walkthrough wins, looking around does not', async () => {
    expect(await env.tryScoring!()).toEqual({
      detail: 'the right answer scores 1 on 3 items',
      passesAll: false,
    });
    for (const item of items) expect(await env.probe(item)).toEqual({ right: 1, nothing: 0 });
  });

  it('can be run when games have no walkthrough, and is refused when a walkthrough does not win', async () => {
    using copy = tempFolder();
    cpSync(DEMO, copy.path, { recursive: true });
    const change = (walkthrough: unknown) => {
      for (const { game } of items) {
        const path = join(copy.path, game);
        writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), walkthrough }));
      }
      return loadDemo(join(copy.path, 'skillopt.config.yaml'));
    };
    const without = await change(undefined);
    const [item] = (await without.getItems('val')) as unknown as Item[];
    expect(await without.probe(item!)).toEqual({
      right: undefined,
      nothing: 0,
      untried: true,
      problem: 'has no walkthrough',
    });
    expect((await without.tryScoring!()).detail).toContain('on 0 items, and 3 items hold none to try');
    await expect((await change(['look'])).tryScoring!()).rejects.toThrow('the right answer scores 0');
  });

  it('has a version for each program and limit, whatever folder it is in', async () => {
    using copy = tempFolder();
    cpSync(DEMO, copy.path, { recursive: true });
    const config = join(copy.path, 'skillopt.config.yaml');
    expect((await loadDemo(config)).version).toBe(env.version);
    expect((await loadDemo(config)).card).toEqual(env.card);
    writeFileSync(join(copy.path, 'world.mjs'), `${readFileSync(`${DEMO}/world.mjs`, 'utf8')}\n`);
    expect((await loadDemo(config)).version).not.toBe(env.version);
  });
});

describe('SkillOpt’s settings of ALFWorld', () => {
  it('are read, and its splits too', async () => {
    const overrides = [`env.split_dir=${DEMO}`, 'env.max_steps=7', 'env.limit=2'];
    const config = 'test/fixtures/skillopt-configs/alfworld/default.yaml';
    const loaded = await loadProject({ flags: {}, config, overrides, cwd: ROOT });
    const env = (await loadEnv(loaded)) as unknown as BenchmarkEnv;
    expect(env.card).toMatchObject({ benchmark: 'alfworld', rule: 'won within 7 steps (hard and soft)' });
    expect(await env.getItems('test')).toHaveLength(2);
  });

  it('may be texts, and others are left alone', () => {
    const given = { maxSteps: '12', maxApiWorkers: '8', stepTimeout: '2.5', world: 'node w.mjs', searchMode: 'x' };
    expect(alfworld.settings.parse(given)).toEqual({
      maxSteps: 12,
      maxCompletionTokens: 16_384,
      stepTimeout: 2.5,
      world: ['node', 'w.mjs'],
    });
    expect(alfworld.settings.parse({})).toMatchObject({
      maxSteps: 50,
      world: ['python3', expect.stringMatching(/alfworld-world\.py$/)],
    });
  });
});
