import { PythonRandom, type SkillOptConfigInput } from 'skillopt';
import { type FakeRequest, startFakeLLM } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { levelOf, levelsOptimizer } from '../../support/levels.ts';
import { startChild, temporaryDirectory } from './run-directory.fixture.ts';

const budgetedRun = new URL('./ledger.child.ts', import.meta.url);
const REPLY_TOKENS = 3_000;

async function answerTo({ model, messages }: FakeRequest): Promise<string> {
  if (model === 'target') return String(levelOf(messages[0]!.content));
  return (await levelsOptimizer().complete({ messages: messages as never })).text;
}

/** Starts the run again and again, each time killing it at some request, until it ends by itself. */
async function trainWithKills(config: SkillOptConfigInput, kills: number, seed: number) {
  const random = new PythonRandom(seed);
  let [killed, requestsLeft] = [0, Number.POSITIVE_INFINITY];
  let child: ReturnType<typeof startChild> | undefined;
  await using server = await startFakeLLM(async (request) => {
    if (--requestsLeft === 0) await child?.kill();
    return { content: await answerTo(request), usage: { prompt_tokens: 50, completion_tokens: REPLY_TOKENS } };
  });
  for (;;) {
    requestsLeft = killed < kills ? 1 + Math.floor(random.random() * 12) : Number.POSITIVE_INFINITY;
    child = startChild(budgetedRun, server.baseURL, JSON.stringify(config));
    const ending = await child.nextLine();
    if (ending !== undefined) return { ending, killed, sent: server.requests.length };
    killed += 1;
  }
}

describe('a run with a limit that is killed again and again', () => {
  it.each([1, 2])('never sends more calls than the limit (seed %i)', async (seed) => {
    await using folder = await temporaryDirectory();
    const { ending, killed, sent } = await trainWithKills({ maxCalls: 40, outRoot: folder.path }, 4, seed);
    expect(ending).toBe('BUDGET_EXHAUSTED');
    expect(killed).toBeGreaterThan(0);
    expect(sent).toBeLessThanOrEqual(40);
    expect(sent, 'a kill loses a few calls, not the budget').toBeGreaterThanOrEqual(40 - killed * 5);
  });

  it('never uses more tokens than the limit', async () => {
    await using folder = await temporaryDirectory();
    const { ending, sent } = await trainWithKills({ maxTotalTokens: 200_000, outRoot: folder.path }, 4, 3);
    expect(ending).toBe('BUDGET_EXHAUSTED');
    expect(sent * (REPLY_TOKENS + 50)).toBeLessThanOrEqual(200_000);
  });
});
