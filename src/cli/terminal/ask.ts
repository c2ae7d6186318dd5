import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { SkillError } from '../../core/contracts/index.ts';
import { oneLine } from '../../core/text/index.ts';
import { Interrupted } from '../interrupt.ts';

type Option<Value> = { readonly value: Value; readonly label: string; readonly hint?: string };

/** Asks a person to choose; the first is what Enter means. Only where `canAsk` says that there is one. Ctrl-C throws `Interrupted`. */
export async function chooseOne<Value>(message: string, options: readonly Option<Value>[]): Promise<Value> {
  const prompts = await import('@clack/prompts');
  const rows = options.map(({ label, hint }, index) => ({ value: index, label, ...(hint ? { hint } : {}) }));
  const answer = await prompts.select({ message, options: rows, initialValue: 0, output: process.stderr });
  if (prompts.isCancel(answer)) throw new Interrupted('SIGINT');
  return options[answer]!.value;
}

/** Asks for a line; nothing is an answer too. `problemWith` says what is wrong with one. */
export async function askForText(
  message: string,
  placeholder: string,
  problemWith: (text: string) => string | undefined,
): Promise<string> {
  const prompts = await import('@clack/prompts');
  const validate = (text: string | undefined) => (text?.trim() ? problemWith(text.trim()) : undefined);
  const answer = await prompts.text({ message, placeholder, validate, output: process.stderr });
  if (prompts.isCancel(answer)) throw new Interrupted('SIGINT');
  return (answer ?? '').trim();
}

/** Asks a person yes or no, with no as what Enter means. Only where `canAsk` says that there is one. Ctrl-C throws `Interrupted`. */
export async function confirm(question: string): Promise<boolean> {
  const prompts = await import('@clack/prompts');
  const answer = await prompts.confirm({
    message: question,
    initialValue: false,
    output: process.stderr, // the answer of the command alone goes to stdout
  });
  if (prompts.isCancel(answer)) throw new Interrupted('SIGINT');
  return answer;
}

/** What a person chose. Ctrl-C throws `Interrupted`. */
export async function answered<Answer>(asking: Promise<Answer>): Promise<Exclude<Answer, symbol>> {
  const answer = await asking;
  if (typeof answer === 'symbol') throw new Interrupted('SIGINT');
  return answer as Exclude<Answer, symbol>;
}

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
