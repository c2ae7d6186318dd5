import { spawnSync } from 'node:child_process';
import { expect, it, vi } from 'vitest';
import { startFakeLLM } from '../../../../../src/testing/index.ts';
import { isMissing } from '../../../../support/machine.ts';
import { sleepHome } from '../../../../support/sleep/sleep-home.ts';

vi.setConfig({ testTimeout: 300_000 });

const crontab = (args: readonly string[], input?: Buffer) => spawnSync('crontab', args, { input });

/** Only where somebody says so: it is the crontab of the person who runs the tests. It is put back in any case. */
const isWanted = process.env.SKILLOPT_REAL_CRON === '1';
if (!isWanted)
  process.stderr.write('the real crontab is not tried: set SKILLOPT_REAL_CRON=1, and it is put back as it was\n');

it.skipIf(!isWanted || isMissing('crontab'))(
  'a job comes into a real crontab and goes, and every other byte stays',
  async () => {
    using home = sleepHome();
    await using llm = await startFakeLLM(() => 'ok');
    const own = crontab(['-l']);
    const before = Buffer.from('MAILTO=""\n# caf\xe9, 100%\n5 4 * * * echo 100\\% done\n\n', 'latin1');
    home.env.PATH = process.env.PATH!;
    home.env.SKILLOPT_HOME = `${home.path}/50% of it's é`;
    const schedule = ['schedule', '--target', `compatible:m@${llm.baseURL}`, '--max-calls', '5', '--with', 'cron'];
    try {
      crontab(['-'], before);
      expect(await home.run(schedule)).toMatchObject({ code: 0 });
      expect(await home.run([...schedule, '--at', '23:59'])).toMatchObject({ code: 0 });
      const after = crontab(['-l']).stdout.toString('latin1');
      expect(after.startsWith(before.toString('latin1'))).toBe(true);
      expect(after.match(/^59 \* \* \* \* \/bin\/sh .*50\\% of it/gm)).toHaveLength(1);
      expect(await home.run(['unschedule'])).toMatchObject({ code: 0 });
      expect(crontab(['-l']).stdout).toEqual(before);
    } finally {
      if (own.status === 0) crontab(['-'], own.stdout);
      else crontab(['-r']);
    }
  },
);
