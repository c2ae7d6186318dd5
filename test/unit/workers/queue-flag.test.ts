import { startFakeLLM } from 'skillopt/testing';
import { describe, expect, it } from 'vitest';
import { projectOverHttp } from '../../support/project-over-http.ts';
import { sleepHome } from '../../support/sleep/sleep-home.ts';
import { lacksRedis, startRedis } from '../../support/workers/start-redis.ts';
import { nightAnswer, nightFlags, reviewedTasks } from '../cli/sleep/night-over-http.ts';

const COMMANDS = [['worker'], ['train', '--ignore-estimate'], ['eval', '--skill', 'SKILL.md']];

describe('an address of a queue', () => {
  it.each(COMMANDS)('that is none is refused by %s, without its password', async (...argv) => {
    using project = projectOverHttp('http://127.0.0.1:9/v1');
    const { code, err } = await project.run(...argv, '--queue', 'https://me:secret@example.com');
    expect([code, err]).toEqual([2, expect.stringMatching(/expected the address of a queue.*got https:\/\/…/)]);
    expect(err).not.toContain('secret');
  });

  it.skipIf(lacksRedis()).each(COMMANDS)(
    'with a wrong password is an outage for %s at once, and its password is not shown',
    async (...argv) => {
      await using redis = await startRedis(() => ['--requirepass', 'right']);
      using project = projectOverHttp('http://127.0.0.1:9/v1');
      for (const account of [':wrong-one@', 'nobody:wrong-one@', '']) {
        const { code, err } = await project.run(...argv, '--queue', redis.url.replace('//', `//${account}`));
        expect([account, code, err]).toEqual([
          account,
          4,
          expect.stringMatching(/the queue at redis:\S+ cannot be used: (WRONGPASS|NOAUTH)/),
        ]);
        expect(err).not.toContain('wrong-one');
      }
    },
  );

  it.each([
    ['', /got nothing/],
    ['127.0.0.1:6379', /got an address without redis:\/\//],
    ['redis://127.0.0.1:6379/tasks', /got the database "tasks"/],
  ])('that is %j is refused, and the message says what came', async (queue, words) => {
    using project = projectOverHttp('http://127.0.0.1:9/v1');
    const { code, err } = await project.run('worker', '--queue', queue);
    expect([code, err]).toEqual([2, expect.stringMatching(words)]);
  });

  it.skipIf(lacksRedis())(
    'with a database that the server does not have is an outage, and not another database',
    async () => {
      await using redis = await startRedis();
      using project = projectOverHttp('http://127.0.0.1:9/v1');
      const { code, err } = await project.run('worker', '--queue', `${redis.url}/99`);
      expect([code, err]).toEqual([4, expect.stringMatching(/cannot be used: .*DB index/)]);
    },
  );

  it('of another program is an outage, and the hint says to check the port', async () => {
    await using llm = await startFakeLLM(() => 'no');
    using project = projectOverHttp('http://127.0.0.1:9/v1');
    const { code, err } = await project.run('worker', '--queue', llm.baseURL.replace(/^http(.*)\/v1$/, 'redis$1'));
    expect([code, err]).toEqual([4, expect.stringContaining('Another program answers there')]);
  });

  it('is refused for a night, which says why', async () => {
    using home = sleepHome();
    for (const part of ['run', 'dry-run']) {
      const { code, err } = await home.run([part, '--queue', 'redis://127.0.0.1:6379']);
      expect([code, err]).toEqual([
        2,
        expect.stringContaining('a night takes no --queue: its tasks hold texts of your sessions'),
      ]);
    }
  });

  it('in the environment does not concern a night', async () => {
    await using llm = await startFakeLLM(nightAnswer);
    using home = sleepHome();
    home.env.SKILLOPT_QUEUE = 'redis://127.0.0.1:1';
    reviewedTasks(home);
    const { code, err } = await home.run(nightFlags(llm.baseURL));
    expect([code, err]).toEqual([0, expect.not.stringContaining('queue')]);
    expect(llm.requests.length).toBeGreaterThan(0);
  });
});
