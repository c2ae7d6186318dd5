import { SkillError } from '../../../core/contracts/index.ts';
import { cronHashes, cronLines, posixScript, scriptPath, withCronJob, withoutCronJob } from '../../../sleep/index.ts';
import { failed, type Installer, type Site } from './installer.ts';
import type { Programs } from './programs.ts';

export function cron({ programs }: Site): Installer {
  return {
    kind: 'cron',
    isUnsure: true,
    privateFiles: (job) => [{ path: scriptPath(job), text: posixScript(job) }],
    shared: (job) => [{ path: 'crontab', text: cronLines(job).join('') }],
    install: async (job) => {
      await change(programs, (before) => withCronJob(before, job.hash, cronLines(job).map(asBytes)));
    },
    remove: (hash) => change(programs, (before) => withoutCronJob(before, hash)),
    list: async () => cronHashes(await readCrontab(programs)),
  };
}

/** A crontab is bytes, one a character; ours are UTF-8. */
const asBytes = (line: string) => Buffer.from(line).toString('latin1');

/** Whether something was changed. What was there is put back when the new one was not taken as it is. */
async function change(programs: Programs, changed: (before: string) => string): Promise<boolean> {
  if (programs.find('crontab') === undefined) return false;
  const before = await readCrontab(programs);
  const after = changed(before);
  if (after === before) return false;
  await writeCrontab(programs, after);
  if ((await readCrontab(programs)) === after) return true;
  await writeCrontab(programs, before);
  throw failed('crontab', 'it did not take the new crontab as it was given, and has the old one again');
}

/** Nothing is written over what cannot be read: it would be lost. */
async function readCrontab(programs: Programs): Promise<string> {
  const { isOk, stdout, stderr } = await programs.run('crontab', ['-l']);
  if (isOk) return stdout;
  if (/^(crontab: )?no crontab for /m.test(stderr)) return '';
  throw new SkillError('ENV_FAILED', `your crontab cannot be read, and so nothing was changed: ${stderr}`, {
    hint: 'See what crontab -l says, or choose another way with --with.',
  });
}

async function writeCrontab(programs: Programs, text: string): Promise<void> {
  const { isOk, stderr } =
    text === '' ? await programs.run('crontab', ['-r']) : await programs.run('crontab', ['-'], text);
  if (!isOk) throw failed('crontab took no new crontab', stderr);
}
