import { ModelCallError } from 'skillopt';
import { anthropicChat, googleChat, openaiChat, openaiCompatible } from 'skillopt/models';
import { type FakeAnswer, startFakeLLM } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { agentClis, agentError } from '../../../src/agents/index.ts';
import { projectOverHttp } from '../../support/project-over-http.ts';

const messages = [{ role: 'user' as const, content: 'hi' }];
const model = 'm';
const apiKey = 'dummy-key';

const openai = (baseURL: string) => openaiChat({ model, apiKey, baseURL });
const anthropic = (baseURL: string) => anthropicChat({ model, apiKey, baseURL });
const google = (baseURL: string) => googleChat({ model, apiKey, baseURL });
const compatible = (baseURL: string) => openaiCompatible({ model, apiKey, baseURL });

const body = (error: object) => JSON.stringify({ error });
const QUOTA = 'You exceeded your current quota, please check your plan and billing details.';

async function refusal(create: typeof openai, answer: FakeAnswer): Promise<ModelCallError> {
  await using server = await startFakeLLM([answer]);
  const error = await create(server.baseURL)
    .complete({ messages })
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ModelCallError);
  return error as ModelCallError;
}

describe('an account without credit', () => {
  it.each([
    ['OpenAI, used up', openai, 429, body({ message: QUOTA, type: 'insufficient_quota', code: 'insufficient_quota' })],
    [
      'OpenAI, hard limit',
      openai,
      400,
      body({ message: 'Billing hard limit has been reached', code: 'billing_hard_limit_reached' }),
    ],
    ['OpenAI, inactive', openai, 429, body({ message: 'Your account is not active', code: 'billing_not_active' })],
    [
      'Anthropic',
      anthropic,
      400,
      body({ type: 'invalid_request_error', message: 'Your credit balance is too low to access the Anthropic API.' }),
    ],
    [
      'Anthropic, own limit',
      anthropic,
      400,
      body({ message: 'You have reached your specified API usage limits. You will regain access on 2030-01-01.' }),
    ],
    [
      'Google, per day',
      google,
      429,
      body({
        message: QUOTA,
        status: 'RESOURCE_EXHAUSTED',
        details: [
          { violations: [{ quotaId: 'GenerateRequestsPerDayPerProjectPerModel-FreeTier' }] },
          { retryDelay: '30s' },
        ],
      }),
    ],
    [
      'Google, prepaid',
      google,
      429,
      body({ message: 'Your prepayment credits are depleted.', status: 'RESOURCE_EXHAUSTED' }),
    ],
    [
      'Google, billing off',
      google,
      403,
      body({ message: 'This API method requires billing to be enabled.', status: 'PERMISSION_DENIED' }),
    ],
    ['payment required', compatible, 402, body({ message: 'Insufficient Balance' })],
    ['credits', compatible, 429, body({ message: 'This request requires more credits, or fewer max_tokens.' })],
    [
      'an error under a status of success',
      compatible,
      200,
      JSON.stringify({ base_resp: { status_code: 1008, status_msg: 'insufficient balance' } }),
    ],
  ])('is told from a rate limit: %s', async (_, create, status, text) => {
    const error = await refusal(create, { status, body: text, headers: { 'retry-after': '20' } });
    expect(error).toMatchObject({ isRetryable: false, isFatal: true, status });
    expect(error.hint).toMatch(/credit|billing/);
  });

  it.each([
    [
      'OpenAI',
      openai,
      body({
        message:
          'Rate limit reached for m in organization o on requests per min. Visit https://x/account/billing to raise it.',
        code: 'rate_limit_exceeded',
      }),
    ],
    [
      'Google, per minute',
      google,
      body({
        message: `${QUOTA} Please retry in 30s.`,
        details: [
          { violations: [{ quotaId: 'GenerateRequestsPerMinutePerProjectPerModel-FreeTier' }] },
          { retryDelay: '30s' },
        ],
      }),
    ],
    [
      'Azure',
      openai,
      body({
        message:
          'Requests have exceeded token rate limit of your current pricing tier. Please retry after 22 seconds. Go here if you would like to increase the default rate limit: quotaincrease',
      }),
    ],
    [
      'Anthropic',
      anthropic,
      body({
        type: 'rate_limit_error',
        message: 'This request would exceed your organization rate limit of 50 requests per minute.',
      }),
    ],
  ])('is not seen in a rate limit of %s', async (_, create, text) => {
    expect(await refusal(create, { status: 429, body: text })).toMatchObject({ isRetryable: true, isFatal: false });
  });

  it('is not seen in a reply that came torn and speaks of money', async () => {
    const reply = { choices: [{ message: { content: 'The answer is: insufficient funds' } }] };
    const error = await refusal(compatible, { body: JSON.stringify(reply).slice(0, -2) });
    expect(error).toMatchObject({ isRetryable: true, isFatal: false });
  });

  it('stops a run at once, with exit code 4 and what the provider says', async () => {
    let calls = 0;
    await using server = await startFakeLLM(() => {
      calls++;
      return {
        status: 429,
        headers: { 'retry-after': '30' },
        body: body({ message: QUOTA, code: 'insufficient_quota' }),
      };
    });
    using project = projectOverHttp(server.baseURL, { workers: 4 });
    const { code, err } = await project.run('train');
    expect(code).toBe(4);
    expect(calls).toBeLessThanOrEqual(4);
    expect(err).toContain(QUOTA);
    expect(err).not.toContain('pause');
  });

  it.each([
    ['Credit balance is too low'],
    ["429 You've hit your usage limit. Upgrade to Pro or try again in 3 days."],
    ['stream error: insufficient_quota (429)'],
  ])('is told from a rate limit where a CLI says it: %s', (words) => {
    const error = agentError({ cli: agentClis['codex-cli'], id: 'codex-cli:default', words, env: {} });
    expect(error).toMatchObject({ isRetryable: false, isFatal: true });
    expect(error.message).toContain(words);
  });
});
