import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ModelCallError } from 'skillopt';
import { type AgentCliName, agentChat, agentClis, detectAgents } from 'skillopt/agents';
import { describe, expect, it } from 'vitest';
import { openLines } from './agent-lines.ts';
import { answers, claudeResult, instructions, messages, piFailed, qwenText } from './cli-answers.ts';
import { type Does, fakeCli, hangs, prints, warns } from './fake-cli.ts';

describe('sign-in', () => {
  it.each([
    ['codex-cli', 'CODEX-SIGN-IN'],
    ['gemini-cli', 'GEMINI-SIGN-IN'],
  ] as const)('%s finds it in its private home', async (cli, secret) => {
    using fake = fakeCli(agentClis[cli].binary, answers.find(([name]) => name === cli)![1], instructions);
    await agentChat({ cli, env: fake.env }).complete({ messages });
    expect(fake.given().texts).toContain(secret);
  });

  it.each([
    ['writes through the link', 'printf RENEWED > "$CODEX_HOME/auth.json"'],
    ['replaces the link', 'printf RENEWED > "$CODEX_HOME/new"; mv -f "$CODEX_HOME/new" "$CODEX_HOME/auth.json"'],
  ])('one that the CLI renews is kept when it %s', async (_, before) => {
    using fake = fakeCli('codex', { ...answers[1]![1], before }, instructions);
    await agentChat({ cli: 'codex-cli', env: fake.env }).complete({ messages });
    expect(readFileSync(join(fake.home, '.codex/auth.json'), 'utf8')).toBe('RENEWED');
  });
});

describe('failures', () => {
  const failing = async (cli: AgentCliName, does: Does, env: Record<string, string> = {}) => {
    using fake = fakeCli(agentClis[cli].binary, does);
    const chat = agentChat({ cli, env: { ...fake.env, ...env } });
    return await chat.complete({ messages }).then(
      () => expect.fail('answered'),
      (error: unknown) => error as ModelCallError,
    );
  };
  const codexFailed = (message: string) => prints({ type: 'turn.failed', error: { message } });
  const opencodeFailed = (message: string, statusCode: number) =>
    prints({ type: 'error', error: { name: 'APIError', data: { message, statusCode } } });
  const copilotFailed = (message: string, statusCode: number) =>
    prints({ type: 'session.error', data: { message, statusCode } });

  it.each<[string, AgentCliName, Does, string]>([
    [
      'not signed in',
      'claude-cli',
      claudeResult({ is_error: true, result: 'Not logged in · Please run /login' }),
      'claude auth login',
    ],
    [
      '401 in an event',
      'claude-cli',
      claudeResult({ is_error: true, result: 'no', api_error_status: 401 }),
      'claude auth login',
    ],
    ['401 in words', 'codex-cli', codexFailed('unexpected status 401 Unauthorized'), 'codex login'],
    ['401 as text with exit code 0', 'qwen-cli', qwenText('[API Error: 401 no]'), 'qwen auth'],
    [
      'no auth type',
      'qwen-cli',
      prints([
        {
          type: 'result',
          is_error: true,
          usage: { input_tokens: 0, output_tokens: 0 },
          error: { message: 'No auth type is selected.' },
        },
      ]),
      'qwen auth',
    ],
    [
      'below warnings',
      'gemini-cli',
      warns('Warning: dumb\n{\n  "error": {\n "message": "Please set an Auth method", "code": 41 }\n}\n', 41),
      'gemini',
    ],
    ['unknown model', 'pi-cli', warns('Error: Model "nope" not found.', 1), 'Name a model'],
    ['404', 'opencode-cli', opencodeFailed('no', 404), 'Name a model'],
    [
      'an option it does not know',
      'copilot-cli',
      warns("error: unknown option '--stream'", 1),
      'npm install -g @github/copilot',
    ],
  ])('%s (%s) is fatal, with the remedy', async (_, cli, does, remedy) => {
    const error = await failing(cli, does);
    expect(error).toBeInstanceOf(ModelCallError);
    expect(error).toMatchObject({ isRetryable: false, isFatal: true, hint: expect.stringContaining(remedy) });
  });

  it.each<[string, AgentCliName, Does, number | undefined]>([
    ['429 in an event', 'copilot-cli', copilotFailed('slow down', 429), 429],
    ['429 in words', 'codex-cli', codexFailed('exceeded retry limit, last status: 429 Too Many Requests'), 429],
    ['429 as text with exit code 0', 'qwen-cli', qwenText('[API Error: 429 too many calls with this API key]'), 429],
    ['500', 'pi-cli', piFailed('500 oops'), 500],
    ['overloaded', 'codex-cli', codexFailed('We are currently experiencing high demand.'), undefined],
    ['a crash without a word', 'codex-cli', { code: 3 }, undefined],
    ['a reply without text', 'claude-cli', claudeResult({ result: ' ' }), undefined],
  ])('%s (%s) is worth another try', async (_, cli, does, status) => {
    const error = await failing(cli, does);
    expect(error).toBeInstanceOf(ModelCallError);
    expect(error).toMatchObject({ isRetryable: true, status });
  });

  const opencodeLog = (words: string) =>
    `timestamp=2026-11-15T04:54:21Z level=ERROR run=1 message="stream error" agent=chat error.error="AI_APICallError: ${words}"`;
  const qwenLog =
    '2026-11-15T04:53:58Z [WARN] [RETRY] Attempt 1 failed with status 429. Retrying... Error: 429 slow down';
  const qwenDebug = `logs="$QWEN_RUNTIME_DIR/debug"; mkdir -p "$logs"; printf '%s\\n' starts '${qwenLog}' > "$logs/1.txt"`;
  const reconnecting = (words: string) => prints({ type: 'error', message: `Reconnecting... 1/5 (${words})` });
  const copilotRefused = (errorMessage: string, statusCode: number) => ({
    type: 'model.call_failure',
    data: { errorMessage, statusCode },
  });

  it.each<[AgentCliName, string, number | undefined, Does]>([
    ['codex-cli', 'status 503 busy', 503, reconnecting('status 503 busy')],
    ['codex-cli', 'high demand', undefined, reconnecting('high demand')],
    ['copilot-cli', 'slow down', 429, prints(copilotRefused('slow down', 429))],
    ['opencode-cli', 'rate limit reached', 429, warns(`${opencodeLog('rate limit reached')}\n`)],
    ['opencode-cli', 'Server Overloaded', 503, warns(`${opencodeLog('Server Overloaded')}\n`)],
    ['pi-cli', '500 oops', 500, prints({ type: 'auto_retry_start', attempt: 1, errorMessage: '500 oops' })],
    ['qwen-cli', '429 slow down', 429, { before: qwenDebug }],
  ])('%s is ended when it would repeat a refused call: %s', async (cli, words, status, does) => {
    const error = await failing(cli, hangs(does));
    expect(error).toBeInstanceOf(ModelCallError);
    expect(error).toMatchObject({ isRetryable: true, isFatal: false, status, message: `${cli}:default: ${words}` });
  });

  it.each<[AgentCliName, Does, number]>([
    ['copilot-cli', prints(copilotRefused('no', 404), copilotFailed('no such model', 404).out!), 404],
    ['opencode-cli', { ...warns(`${opencodeLog('bad key')}\n`), ...opencodeFailed('bad key', 401) }, 401],
  ])('%s is left to its own words when it gives up anyway', async (cli, does, status) => {
    expect(await failing(cli, does)).toMatchObject({ isRetryable: false, isFatal: true, status });
  });

  it.each<[AgentCliName, string]>([
    ['gemini-cli', `Unknown arguments: new\nUsage: gemini [options]\n${'  -h  Show help\n'.repeat(50)}`],
    ['cursor-cli', 'Usage: cursor-agent [options]\n'],
    ['opencode-cli', `opencode run [message..]\n${'  -h, --help  show help\n'.repeat(50)}`],
  ])('%s: an option it does not know is seen above the usage that it prints', async (cli, usage) => {
    const { binary, installCommand } = agentClis[cli];
    expect(await failing(cli, warns(usage))).toMatchObject({
      isFatal: true,
      hint: `Update ${binary}: ${installCommand}`,
    });
  });

  it('names the model, and keeps keys to itself', async () => {
    const error = await failing('codex-cli', codexFailed('status 401: bad key secret-value-1'), {
      SOME_API_KEY: 'secret-value-1',
    });
    expect(error.message).toBe('codex-cli:default: status 401: bad key …');
  });
});

describe('processes', () => {
  /** The CLI and a child of it each hold a line to the test, for as long as they live. */
  const family = `const hold = "require('node:net').connect(Number(process.env.FAKE_PORT), '127.0.0.1')";
    eval(hold);
    require('node:child_process').spawn(process.execPath, ['-e', hold], { stdio: 'inherit' });`;

  it('an abort ends the CLI and its children, and is thrown as its reason', async () => {
    using fake = fakeCli('claude', family);
    await using lines = await openLines();
    const env = { ...fake.env, FAKE_PORT: String(lines.port) };
    const controller = new AbortController();
    const call = agentChat({ cli: 'claude-cli', env }).complete({ messages, signal: controller.signal });
    const held = [await lines.next(), await lines.next()];
    controller.abort(new Error('enough'));
    await expect(call).rejects.toThrow('enough');
    await Promise.all(held.map(({ closed }) => closed));
    expect(existsSync(fake.given().cwd)).toBe(false);
  });

  it('a time-out is worth another try', async () => {
    using fake = fakeCli('claude', hangs());
    const call = agentChat({ cli: 'claude-cli', env: fake.env, timeoutMs: 200 }).complete({ messages });
    await expect(call).rejects.toMatchObject({
      isRetryable: true,
      message: 'claude-cli:default gave no answer within 0.2 s',
    });
  });

  it('several turns are told apart and stay in order', async () => {
    using fake = fakeCli('claude', claudeResult({ result: 'ok' }));
    const turns = [
      { role: 'user' as const, content: 'one' },
      { role: 'assistant' as const, content: 'two' },
      { role: 'user' as const, content: 'three' },
    ];
    await agentChat({ cli: 'claude-cli', env: fake.env }).complete({ messages: turns });
    expect(fake.given().input).toBe('<user>\none\n</user>\n\n<assistant>\ntwo\n</assistant>\n\n<user>\nthree\n</user>');
  });

  it('detects what is installed, with its version', async () => {
    using fake = fakeCli('codex', prints('codex-cli 0.166.0\n'));
    const env = { ...fake.env, PATH: fake.path.replace(/\/codex$/, '') };
    expect(await detectAgents(env)).toEqual([
      { cli: 'codex-cli', path: fake.path, foundAt: fake.path, version: '0.166.0' },
    ]);
  });
});
