import { execFileSync } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { startFakeAgentLLM, startFakeLLM } from 'skillopt/testing';
import { probeSandbox } from 'skillopt/workspaces';
import { describe, expect, it } from 'vitest';
import { appends } from '../support/scripted-run.ts';
import { answerOf, sleepHome } from '../support/sleep/sleep-home.ts';
import { filesBelow } from '../unit/sleep/night/night-world.ts';
import { installedAgents } from './agent-at-work.ts';

const [claude] = installedAgents(['claude']);
const sandbox = (await probeSandbox()).auto ?? 'none';

/** Done by whoever follows the learned document; the description of the skill says: «Read it before any task.» */
const LINE = 'DO: echo noted > NOTES.md';
const PLACES = 'cart basket price stock order refund parcel coupon invoice ledger'.split(' ');

/** As the miner, one task a session; as the judge, whether the change was noted; else the analyst. */
function answer({ messages }: { messages: readonly { content: string }[] }): string {
  const [system = '', user = ''] = messages.map(({ content }) => content);
  if (system.includes('practice tasks')) {
    const place = PLACES.find((one) => user.includes(one))!;
    const intent = `Rename things of the ${place} in ${place}.ts: ${place}One ${place}Two`; // shares a word with the description
    return JSON.stringify({ tasks: [{ intent, rubric: 'The change is noted in NOTES.md.', needs_files: true }] });
  }
  if (system.startsWith('You score one answer')) {
    const isNoted = user.includes('added NOTES.md');
    return JSON.stringify({ reason: 'looked', score: isNoted ? 1 : 0 });
  }
  return JSON.stringify({ ...appends(LINE), ...appends(LINE).patch });
}

describe('a night with the real claude', () => {
  if (claude!.installed.missing !== undefined) return it.skip(claude!.installed.missing);
  const program = realpathSync(claude!.installed.program); // what is in node_modules/.bin is refused, as a project could bring it along

  it('mines requests that change files, replays them with tools, and stages what helps', async () => {
    await using agent = await startFakeAgentLLM({ policy: 'follow', only: ['skillopt-sleep-learned-project'] });
    await using others = await startFakeLLM(answer);
    using home = sleepHome();
    home.write('shop/cart.ts', 'export {};\n');
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@localhost', ...args], { cwd: home.shop });
    git('init', '--quiet');
    git('add', '--all');
    git('commit', '--quiet', '--message', 'Begin');
    for (const [at, place] of PLACES.entries())
      home.said({
        id: `s-${at}`,
        endedHoursAgo: at + 1,
        turns: [
          ['user', `Rename the ${place} in ${place}.ts, please`],
          ['assistant', 'It is renamed.'],
          ['user', 'and note it in NOTES.md next time'],
          ['assistant', 'I will.'],
        ],
      });
    const before = filesBelow(home.shop);
    const target = { agent: 'claude', path: program, model: claude!.model, sandbox, baseURL: agent.url };
    const models = ['--target', JSON.stringify(target), '--optimizer', `compatible:m@${others.baseURL}`];
    const flags = ['--quiet', '--no-evolve-memory', '--val-fraction', '0.6', '--max-tokens-per-night', '200000000'];
    const report = await answerOf(home, ['run', ...models, ...flags]);
    expect(report).toMatchObject({ notReplayable: 0, withTools: { tasks: 10, needFiles: 10, sandbox } });
    expect(report.withTools.agent).toMatch(/^claude@2\./);
    expect(report.documents[0].after).toContain(LINE);
    expect(report.proposals).toMatchObject([{ id: '1' }]);
    expect(filesBelow(home.shop)).toEqual(before);
    expect(existsSync(join(home.shop, 'NOTES.md'))).toBe(false);
  }, 1_500_000);
});
