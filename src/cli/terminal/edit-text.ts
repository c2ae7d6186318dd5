import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { SkillError } from '../../core/contracts/index.ts';
import { oneLine } from '../../core/text/index.ts';

/** A text as a person leaves it in an editor. As git does: the variable is a command for the shell, and the file is its last word. */
export async function editText(text: string, editor: string, name: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'skillopt-review-'));
  try {
    const file = join(folder, name);
    await writeFile(file, `${text}\n`, { mode: 0o600 });
    const { exitCode = 1 } = await execa(`${editor} "${file}"`, {
      shell: true,
      reject: false,
      stdio: ['inherit', process.stderr, 'inherit'], // stdout is for the answer alone
    });
    if (exitCode === 0) return await readFile(file, 'utf8');
    const hint = 'Nothing was changed. VISUAL or EDITOR names the editor; without them the text is edited here.';
    throw new SkillError('USAGE', `the editor ended with code ${exitCode}: ${oneLine(editor)}`, { hint });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
