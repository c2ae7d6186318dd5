// One transaction of a process of its own: argv is the project, the journal folder, a file's name, its new text, and where to die.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { digestOf, replaceFiles } from '../../../../src/skills/index.ts';

const [project = '', journalFolder = '', names = '', text = '', dieAt = ''] = process.argv.slice(2);
const changes = names.split(',').map((name) => {
  const path = join(project, name);
  return { path, expected: digestOf(readFileSync(path)), bytes: Buffer.from(text) };
});
const onMoment = (moment: string) => {
  if (moment === dieAt) process.kill(process.pid, 'SIGKILL');
};
try {
  await replaceFiles(changes, { journalFolder, roots: [project], id: `p${process.pid}`, onMoment });
  process.stdout.write('wrote');
} catch (error) {
  const { code, message } = error as { code?: string; message: string };
  process.stdout.write(`${code} ${message}`);
}
