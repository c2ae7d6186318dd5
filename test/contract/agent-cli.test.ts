import { existsSync } from 'node:fs';
import { ModelCallError } from 'skillopt';
import { type AgentCliName, agentChat, agentClis, requireInstalled } from 'skillopt/agents';
import { describe, expect, it } from 'vitest';
import { answers, claudeResult, instructions, messages, piFailed, qwenText } from '../unit/agents/cli-answers.ts';
import { type Does, fakeCli, prints, warns } from '../unit/agents/fake-cli.ts';

const user = (content: string) => [{ role: 'user' as const, content }];
const LONG = 'word '.repeat(32_000);
const BIG_ENVIRONMENT = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`BIG_${at}`, 'x'.repeat(120_000)]));

/** What each CLI does where nobody is signed in. */
const refusals: Readonly<Record<AgentCliName, Does>> = {
  'claude-cli': claudeResult({ is_error: true, result: 'no', api_error_status: 401 }),
  'codex-cli': prints({ type: 'turn.failed', error: { message: 'unexpected status 401 Unauthorized' } }),
  'copilot-cli': prints({ type: 'session.error', data: { message: 'no', statusCode: 401 } }),
  'cursor-cli': warns('Error: Authentication required. Please run "cursor-agent login" first.', 1),
  'gemini-cli': warns('{"error": {"message": "Please set an Auth method", "code": 41 }}', 41),
  'opencode-cli': prints({ type: 'error', error: { name: 'APIError', data: { message: 'bad key', statusCode: 401 } } }),
  'pi-cli': piFailed('401 no'),
  'qwen-cli': qwenText('[API Error: 401 no]'),
};

it('every CLI has its rows here', () => {
  const names = Object.keys(agentClis).sort();
  expect(answers.map(([cli]) => cli).sort()).toEqual(names);
  expect(Object.keys(refusals).sort()).toEqual(names);
});

describe.each(answers)('%s as a chat model', (cli, does, usage) => {
  /** Cursor's takes its prompt as an argument; the others read it. */
  const takesArgument = cli === 'cursor-cli';

  const failureOf = async (content: string, env: Record<string, string> = {}, does: Does = {}) => {
    using fake = fakeCli(agentClis[cli].binary, does);
    return await agentChat({ cli, env: { ...fake.env, ...env } })
      .complete({ messages: user(content) })
      .then(
        () => expect.fail('answered'),
        (error: unknown) => error as ModelCallError,
      );
  };

  it('gives the text, the tokens, and an id with the model', async () => {
    using fake = fakeCli(agentClis[cli].binary, does);
    const chat = agentChat({ cli, model: 'large', env: fake.env });
    expect(chat.id).toBe(`${cli}:large`);
    expect(await chat.complete({ messages })).toEqual({ text: 'four', usage, finishReason: 'stop' });
    // It got both prompts and the model, in an empty folder that is gone afterwards.
    const { args, input, texts, entries, cwd } = fake.given();
    expect(takesArgument ? args.at(-1) : input).toContain('What is 2 + 2?');
    expect([input, ...args, ...texts].join('\n')).toMatch(/Be \\?"brief\\?"\.(\n|\\n)Always\./);
    expect(args).toContain('large');
    expect(entries).toEqual([]);
    expect(existsSync(cwd)).toBe(false);
  });

  it("is given nothing of its user's instructions", async () => {
    using fake = fakeCli(agentClis[cli].binary, does, instructions);
    await agentChat({ cli, env: fake.env }).complete({ messages });
    const { args, input, texts } = fake.given();
    expect([input, ...args, ...texts].join('\n')).not.toContain('PLANTED');
  });

  it('refuses a model that could be read as an option', () => {
    for (const model of ['-m', '--dangerously-skip-permissions', 'a\nb', 'a\0b']) {
      const error = { code: 'CONFIG_INVALID', message: expect.stringContaining(JSON.stringify(model)) };
      expect(() => agentChat({ cli, model })).toThrow(expect.objectContaining(error));
    }
  });

  const itReads = takesArgument ? () => {} : it; // what Cursor's refuses is tested beside it
  itReads('takes a long prompt whole, and one with a NUL; no argument comes from it', async () => {
    using fake = fakeCli(agentClis[cli].binary, {});
    const given = [{ role: 'system' as const, content: `${LONG}--system-flag` }, ...user(`${LONG}--user-flag a\0b`)];
    await agentChat({ cli, env: fake.env })
      .complete({ messages: given })
      .catch(() => {});
    const { input, args } = fake.given();
    expect(input).toContain(`${LONG}--user-flag a\0b`);
    expect(args.filter((arg) => /(system|user)-flag/.test(arg))).toEqual([]);
  });

  it('that is not installed is one message with the install command', async () => {
    const env = { PATH: '/nowhere' };
    const error = { code: 'CONFIG_INVALID', hint: `Install it: ${agentClis[cli].installCommand}` };
    expect(() => requireInstalled({ cli, env })).toThrow(expect.objectContaining(error));
    await expect(agentChat({ cli, env }).complete({ messages })).rejects.toMatchObject(error);
  });

  it('that is not signed in is fatal, with the command that signs in', async () => {
    const error = await failureOf('hello', {}, refusals[cli]);
    expect(error).toBeInstanceOf(ModelCallError);
    expect(error).toMatchObject({ isRetryable: false, isFatal: true });
    expect(error.hint).toContain(agentClis[cli].signInCommand);
  });

  it.each([
    ['E2BIG', BIG_ENVIRONMENT, 'could not be started: spawn E2BIG'],
    ['a NUL in a variable', { SOME_API_KEY: 'sk-secret\0value' }, ''],
  ])('that cannot be started gives no answer: %s', async (_, env, words) => {
    const error = await failureOf('hello', env);
    expect(error).toBeInstanceOf(ModelCallError);
    expect(error).toMatchObject({ code: 'MODEL_CALL_FAILED', isRetryable: false });
    expect(error.message).toContain(words);
    expect(error.message).not.toContain('sk-secret');
  });
});
