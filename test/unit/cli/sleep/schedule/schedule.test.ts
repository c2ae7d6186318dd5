import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expectEvery } from '../../../../support/expect-every.ts';
import { answerOf } from '../../../../support/sleep/sleep-home.ts';
import { fakeSystem } from './fake-system.ts';

const PRINTED = ['schedule', '--target', 'simulated', '--max-minutes', '30', '--print'];

describe('schedule --skill', () => {
  it.each(['cron', 'systemd'])('has the night train a skill that is named, by its path: %s', async (kind) => {
    using system = fakeSystem();
    const { home } = system;
    const path = home.write('.claude/skills/deploy/SKILL.md', '---\nname: deploy\ndescription: d\n---\nDeploy.\n');
    const { out } = await home.run([...PRINTED, '--with', kind, '--skill', 'deploy']);
    expect(out).toContain(`--target-skill-path`);
    expect(out).toContain(path);
    const { command } = await answerOf(home, [...PRINTED, '--with', kind, '--skill', 'deploy']);
    expect(command).toEqual(expect.arrayContaining(['--target-skill-path', path]));
    expect(command).not.toContain('--skill');
    expect((await home.run([...PRINTED, '--skill', 'no-such'])).code).toBe(2);
  });
});

describe('a nightly job', () => {
  it('needs a cap that somebody chose', async () => {
    using system = fakeSystem();
    const { home } = system;
    const print = ['schedule', '--target', 'simulated', '--print'];
    expect(await home.run(print)).toMatchObject({ code: 2, err: expect.stringContaining('--max-minutes') });
    home.write('shop/skillopt.config.yaml', 'sleep:\n  maxTokensPerNight: 90000\n');
    const { command } = await answerOf(home, print);
    expect(command.join(' ')).toContain('--max-tokens-per-night 90000');
  });

  it('says that a cap never pays for a proposal, and what to set', async () => {
    using system = fakeSystem();
    const print = (calls: string) =>
      system.home.run(['schedule', '--target', 'simulated', '--print', '--max-calls', calls]);
    const { code, err } = await print('50');
    expect(code).toBe(0);
    expect(err).toContain(
      '--max-calls 50 is too few for a proposal: the smallest night that can have one takes about 53',
    );
    const [, usual] = /--max-calls (\d+) is about what a night of 40 tasks takes/.exec(err)!;
    expect((await print(usual!)).err).toBe('');
  });

  it.each(['24:00', '3:60', 'true', 'NaN', '', '3'])('is at no time %j', async (at) => {
    using system = fakeSystem();
    const wrong = await system.home.run([...PRINTED, '--at', at]);
    expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining('from 00:00 to 23:59') });
  });

  it('36: keeps the flags of the night, with absolute paths', async () => {
    using system = fakeSystem();
    const { home } = system;
    home.write('shop/skills/cart/SKILL.md', '# cart');
    const said = ['--source', 'claude,codex', '--optimizer', 'openai:m', '--target-skill-path', 'skills/cart/SKILL.md'];
    const more = ['--no-evolve-memory', '--preferences', "it's\nshort", '--max-tasks', '5', '--max-calls', '9'];
    const { command } = await answerOf(home, [...PRINTED, ...said, ...more]);
    const shop = realpathSync(home.shop);
    const words = [
      '--target',
      'simulated',
      '--optimizer',
      'openai:m',
      '--source',
      'claude,codex',
      '--no-evolve-memory',
    ];
    expect(command).toEqual(
      expect.arrayContaining([...words, join(shop, 'skills/cart/SKILL.md'), "it's\nshort", shop]),
    );
    const pairs = ['--max-tasks-per-night 5', '--max-minutes 30', '--max-calls 9', '--quiet --json'];
    for (const pair of pairs) expect(command.join(' ')).toContain(pair);
    expectEvery(command.slice(0, 2), (path: string) => path === realpathSync(path));
  });

  it('is installed in the way of this system only', async () => {
    using system = fakeSystem();
    const wrong = await system.home.run([
      ...PRINTED.slice(0, -1),
      '--with',
      process.platform === 'win32' ? 'cron' : 'windows',
    ]);
    expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining('on this system, got') });
  });

  it('installs nothing with --print', async () => {
    using system = fakeSystem();
    for (const kind of ['systemd', 'cron', 'launchd', 'windows']) {
      expect(await system.home.run([...PRINTED, '--with', kind])).toMatchObject({ code: 0 });
    }
    expect(system.crontab()).toBeUndefined();
    expect(existsSync(join(system.home.state, 'schedules'))).toBe(false);
  });
});
