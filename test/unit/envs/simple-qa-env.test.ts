import { SimpleQAEnv, type SimpleQAEnvOptions } from 'skillopt/envs';
import { describe, expect, test } from 'vitest';
import {
  type ChatModel,
  type ChatReply,
  type ChatRequest,
  ModelCallError,
  noUsage,
  RolloutResult,
} from '../../../src/core/contracts/index.ts';

const france = { id: 'q1', question: 'Capital of France?', answers: ['Paris'] };
const ocean = { id: 7, question: 'Largest ocean?', answers: ['Pacific Ocean', 'Pacific'], task_type: 'geography' };
const italy = {
  id: 't1',
  question: 'Capital of Italy?',
  answer: 'Rome',
  context: 'Rome is in Italy.',
  taskType: 'capitals',
};

const makeEnv = (options: Partial<SimpleQAEnvOptions> = {}) =>
  new SimpleQAEnv({ trainItems: [france], valItems: [ocean], testItems: [italy], ...options });

function replying(text: string, finishReason: ChatReply['finishReason'] = 'stop') {
  const requests: ChatRequest[] = [];
  const target: ChatModel = {
    id: 'replying',
    async complete(request) {
      requests.push(request);
      return { text, usage: noUsage, finishReason };
    },
  };
  return { target, requests };
}

async function rollOut(env: SimpleQAEnv, split: string, target: ChatModel, skill = '# Skill\n') {
  const { signal } = new AbortController();
  return env.rolloutOne({ item: env.getItems(split)[0]!, skill, target, extras: {}, signal });
}

const messageOf = (work: () => unknown) => {
  try {
    work();
  } catch (error) {
    return `${(error as { code: string }).code}: ${(error as Error).message}`;
  }
  return 'nothing was thrown';
};

describe('items', () => {
  test('are read in the seeds’ spellings too', () => {
    const env = makeEnv();
    expect(env.getItems('train')).toEqual([{ id: 'q1', question: 'Capital of France?', answers: ['Paris'] }]);
    expect(env.getItems('val')).toEqual([
      { id: '7', question: 'Largest ocean?', answers: ['Pacific Ocean', 'Pacific'], taskType: 'geography' },
    ]);
    expect(env.getItems('test')).toEqual([
      {
        id: 't1',
        question: 'Capital of Italy?',
        answers: ['Rome'],
        context: 'Rome is in Italy.',
        taskType: 'capitals',
      },
    ]);
  });

  test('keep nothing that is not part of a question', () => {
    const source = { ...france, source: 'page 3', context: '', taskType: null };
    expect(makeEnv({ trainItems: [source] }).getItems('train')).toEqual([france]);
  });

  test('name the task types once each', () => {
    const again = { ...france, id: 'q2', taskType: 'capitals' };
    expect(makeEnv({ trainItems: [france, again] }).getTaskTypes()).toEqual(['capitals', 'geography']);
  });

  test('that are malformed are named by split and place', () => {
    const valItems = [ocean, { id: 'v2', question: ' ', answers: [] }];
    expect(messageOf(() => makeEnv({ valItems }))).toMatchInlineSnapshot(`
      "TASKS_INVALID: item 2 of val: "question" must be non-empty text, got " "
      item 2 of val: "answers" must be a non-empty list, got []"
    `);
  });

  test('that are left out altogether are asked for', () => {
    const options = { trainItems: [france], valItems: [ocean] } as unknown as SimpleQAEnvOptions;
    expect(messageOf(() => new SimpleQAEnv(options))).toBe('TASKS_INVALID: testItems must be a list, got undefined');
  });

  test('that share an id, also across splits, are named by both places', () => {
    const testItems = [italy, { ...france, question: 'Capital of Gaul?' }];
    expect(messageOf(() => makeEnv({ testItems }))).toMatchInlineSnapshot(
      `"TASKS_INVALID: item 1 of train and item 2 of test share the id "q1""`,
    );
  });

  test('are also found under the names of SkillOpt’s data', () => {
    const env = makeEnv();
    expect(env.getItems('valid_seen')).toEqual(env.getItems('val'));
    expect(env.getItems('valid_unseen')).toEqual(env.getItems('test'));
  });

  test.each(['dev', 'constructor', ''])('of the unknown split %j are an error that names the known ones', (split) => {
    expect(messageOf(() => makeEnv().getItems(split))).toBe(
      `TASKS_INVALID: simple-qa: expected one of the splits train, val, test, selection, valid_seen, valid_unseen, got "${split}"`,
    );
  });
});

describe('settings', () => {
  test('an environment without an initial skill starts from an empty one', () => {
    expect(makeEnv().getInitialSkill()).toBe('');
    expect(makeEnv({ initialSkill: '# Mine\n' }).getInitialSkill()).toBe('# Mine\n');
  });

  test('the version tells apart what can score differently', () => {
    expect(makeEnv().version).toMatchInlineSnapshot(`"format 1, maxCompletionTokens 4096"`);
    expect(makeEnv({ maxCompletionTokens: 256 }).version).toContain('256');
  });

  test.each([0, -1, 1.5, Number.NaN])('a longest reply of %d tokens is refused', (maxCompletionTokens) => {
    expect(messageOf(() => makeEnv({ maxCompletionTokens }))).toBe(
      `ENV_INVALID: simple-qa: maxCompletionTokens must be a positive whole number, got ${maxCompletionTokens}`,
    );
  });
});

describe('rolloutOne', () => {
  test('asks once, with the skill first and the question last', async () => {
    const { target, requests } = replying('<answer>Rome</answer>');
    await rollOut(makeEnv({ maxCompletionTokens: 256 }), 'test', target, '# Skill\n\n- Be brief.\n');
    expect(requests).toHaveLength(1);
    expect(requests[0]).toMatchObject({ stage: 'rollout', maxOutputTokens: 256, signal: expect.any(AbortSignal) });
    expect(
      requests[0]!.messages.map(({ role, content }) => `[${role}]\n${content}`).join('\n\n'),
    ).toMatchInlineSnapshot(`
      "[system]
      # Skill

      - Be brief.

      End your reply with the final answer inside <answer></answer>, in as few words as it takes. Only what stands between these tags is graded.

      [user]
      Context:
      Rome is in Italy.

      Question: Capital of Italy?"
    `);
  });

  test('asks without context and without a skill when there is none', async () => {
    const { target, requests } = replying('Paris');
    await rollOut(makeEnv(), 'train', target, '');
    const [system, user] = requests[0]!.messages;
    expect(system!.content).toMatch(/^End your reply/);
    expect(user!.content).toBe('Question: Capital of France?');
  });

  test('reports a right answer', async () => {
    const reply = 'The one on the Tiber.\n<answer>rome</answer>';
    const result = await rollOut(makeEnv(), 'test', replying(reply).target);
    expect(RolloutResult.parse(result)).toEqual({
      id: 't1',
      hard: 1,
      soft: 1,
      nTurns: 1,
      taskType: 'capitals',
      question: 'Capital of Italy?',
      predictedAnswer: 'rome',
      referenceText: 'Rome',
      conversation: [
        { role: 'user', content: 'Context:\nRome is in Italy.\n\nQuestion: Capital of Italy?' },
        { role: 'assistant', content: reply },
      ],
    });
  });

  test('says what was expected and what came', async () => {
    const result = await rollOut(makeEnv(), 'train', replying('<answer>Lyon</answer>').target);
    expect(result).toMatchObject({ hard: 0, soft: 0, failReason: 'expected "Paris", got "Lyon"' });
  });

  test('names every gold answer, and gives partial credit', async () => {
    const result = await rollOut(makeEnv(), 'val', replying('<answer>Arctic Ocean</answer>').target);
    expect(result).toMatchObject({
      hard: 0,
      soft: 0.5,
      referenceText: 'Pacific Ocean | Pacific',
      failReason: 'expected one of "Pacific Ocean", "Pacific", got "Arctic Ocean"',
    });
  });

  test('says that the token limit cut the reply', async () => {
    const result = await rollOut(makeEnv(), 'train', replying('Let me think about', 'length').target);
    expect(result.failReason).toBe('expected "Paris", got "Let me think about" (the reply was cut at the token limit)');
  });

  test('does not make a score of a model that cannot be reached', async () => {
    const outage = new ModelCallError('503', { status: 503 });
    const target: ChatModel = { id: 'down', complete: () => Promise.reject(outage) };
    await expect(rollOut(makeEnv(), 'train', target)).rejects.toBe(outage);
  });
});
