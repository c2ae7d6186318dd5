import { type FakeRequest, startFakeLLM } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { answerOf, sleepHome } from '../../../support/sleep/sleep-home.ts';
import { nightAnswer, nightFlags, reviewedTasks } from './night-over-http.ts';

/** Answers like `answer` up to its nth request. Then it accepts requests and is silent, until `speak` is called. */
function silentAfter(requests: number, answer: (request: FakeRequest) => string) {
  let [seen, isSilent] = [0, true];
  return {
    answer: async (request: FakeRequest) => {
      seen += 1;
      return isSilent && seen > requests ? new Promise<never>(() => {}) : answer(request);
    },
    speak() {
      isSilent = false;
    },
  };
}

const REACHED = /max-?minutes is reached/i;
const SHORT = ['--max-minutes', '0.02'];

describe('skillopt sleep run --max-calls', () => {
  it('that cannot pay for any proposal says so', async () => {
    await using server = await startFakeLLM(() => '{"tasks":[]}');
    using home = sleepHome();
    home.said();
    const argv = ['run', '--target', `compatible:m@${server.baseURL}`, '--quiet', '--max-calls', '1'];
    const { err } = await home.run(argv);
    expect(err).toContain(
      '--max-calls 1 is too few for a proposal: the smallest night that can have one takes about 53',
    );
  });

  it('is compared with what the tasks take, which is said', async () => {
    await using server = await startFakeLLM(nightAnswer);
    using home = sleepHome();
    reviewedTasks(home);
    const argv = nightFlags(server.baseURL).filter((flag) => flag !== '--quiet');
    const { err } = await home.run(argv);
    expect(err).toContain('12 tasks, 8 of them held out: a proposal takes at least about 73 calls');
    expect(err).not.toContain('too few');
    expect(server.requests.length).toBeGreaterThanOrEqual(73);
  });
});

describe('skillopt sleep run --max-tokens-per-night', () => {
  it('is named when it ends a night', async () => {
    await using server = await startFakeLLM(nightAnswer);
    using home = sleepHome();
    reviewedTasks(home);
    const { err } = await home.run([...nightFlags(server.baseURL), '--max-tokens-per-night', '300']);
    expect(err).toContain('Raise --max-tokens-per-night');
    expect(err).not.toContain('total-tokens');
  });
});

describe('skillopt sleep run --max-minutes', () => {
  it('ends while tasks are looked for, says so, and the same command starts there again', async () => {
    const found = JSON.stringify({ tasks: [{ intent: 'Write a commit message', rubric: 'It has one short line.' }] });
    const far = silentAfter(0, () => found);
    await using server = await startFakeLLM(far.answer);
    using home = sleepHome();
    home.said();
    const argv = ['run', '--target', `compatible:m@${server.baseURL}`, '--quiet'];
    const { code, err } = await home.run([...argv, ...SHORT]);
    expect(code).toBe(3);
    expect(err).toMatch(REACHED);
    expect(err).toContain('before a task was found');
    far.speak();
    expect(await answerOf(home, argv)).toMatchObject({ night: 1, nSessions: 1, nTasks: 1 });
  });

  it('works with the tasks that were found when the server fell silent', async () => {
    const found = JSON.stringify({ tasks: [{ intent: 'Write a commit message', rubric: 'It has one short line.' }] });
    const far = silentAfter(1, () => found);
    await using server = await startFakeLLM(far.answer);
    using home = sleepHome();
    home.said({ id: 'a' });
    const turns = [
      ['user', 'Rename the cart to a basket everywhere'],
      ['assistant', 'It is renamed.'],
    ] as const;
    home.said({ id: 'b', endedHoursAgo: 2, turns });
    const argv = ['run', '--target', `compatible:m@${server.baseURL}`, '--quiet', '--max-minutes', '0.05'];
    const { nTasks, notes } = await answerOf(home, argv);
    expect({ nTasks, notes: notes.join('\n') }).toEqual({ nTasks: 1, notes: expect.stringMatching(REACHED) });
  });

  it.concurrent.each([0, 10, 26, 40])(
    'ends when the server is silent after %d answers: baseline, attempts, reflection or proof',
    async (answers) => {
      const far = silentAfter(answers, nightAnswer);
      await using server = await startFakeLLM(far.answer);
      using home = sleepHome();
      reviewedTasks(home);
      const { code, out, err } = await home.run(nightFlags(server.baseURL, ...SHORT));
      expect(`${out}${err}`).toMatch(REACHED);
      far.speak();
      const next = await answerOf(home, nightFlags(server.baseURL));
      if (code !== 0) expect(next).toMatchObject({ night: 1, accepted: true });
    },
  );
});
