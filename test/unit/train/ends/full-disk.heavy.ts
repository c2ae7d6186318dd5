import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { COMMAND } from '../../../support/compiled.ts';
import { temporaryDirectory } from '../../stores/run-directory.fixture.ts';

it.skipIf(process.platform === 'win32')(
  'a full disk stops the command with exit code 2, and it resumes later',
  async () => {
    await using folder = await temporaryDirectory();
    const demo = (limit: string) => {
      const args = [
        '-c',
        `${limit}; exec "$@"`,
        'bash',
        process.execPath,
        COMMAND,
        'demo',
        '--quiet',
        '--latency-ms',
        '0',
      ];
      const env = { PATH: process.env.PATH, HOME: folder.path, NO_COLOR: '1' };
      return promisify(execFile)('bash', args, { cwd: folder.path, env }).catch((error) => error);
    };
    const stopped = await demo('ulimit -f 600');
    expect(stopped.stderr).toMatch(/cannot be written: /);
    expect(stopped.code).toBe(2);
    const resumed = await demo('true');
    expect(resumed.stdout).toMatch(/^Better: /);
  },
);
