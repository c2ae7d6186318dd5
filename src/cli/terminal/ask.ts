import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SkillError } from '../../core/contracts/index.ts';
import { oneLine } from '../../core/text/index.ts';
import { Interrupted } from '../errors.ts';
import type { Io } from './terminal.ts';

type Option<Value> = { readonly value: Value; readonly label: string; readonly hint?: string };

/** Asks a person to choose; the first is what Enter means. Only where `canAsk` says that there is one. Ctrl-C throws `Interrupted`. */
export async function chooseOne<Value>(message: string, options: readonly Option<Value>[]): Promise<Value> {
  const { select } = await import('@clack/prompts');
  const rows = options.map(({ label, hint }, index) => ({ value: index, label, ...(hint ? { hint } : {}) }));
  const chosen = await answered(select({ message, options: rows, initialValue: 0, output: process.stderr }));
  return options[chosen]!.value;
}

/** Asks for a line; nothing is an answer too. `problemWith` says what is wrong with one. */
export async function askForText(
  message: string,
  placeholder: string,
  problemWith: (text: string) => string | undefined,
): Promise<string> {
  const { text } = await import('@clack/prompts');
  const validate = (typed: string | undefined) => (typed?.trim() ? problemWith(typed.trim()) : undefined);
  const answer = await answered(text({ message, placeholder, validate, output: process.stderr }));
  return (answer ?? '').trim();
}

/** Asks a person yes or no, with no as what Enter means. Only where `canAsk` says that there is one. Ctrl-C throws `Interrupted`. */
export async function confirm(question: string): Promise<boolean> {
  const prompts = await import('@clack/prompts');
  // The answer of the command alone goes to stdout.
  return answered(prompts.confirm({ message: question, initialValue: false, output: process.stderr }));
}

/** What a person chose. Ctrl-C throws `Interrupted`. */
export async function answered<Answer>(asking: Promise<Answer>): Promise<Exclude<Answer, symbol>> {
  const answer = await asking;
  if (typeof answer === 'symbol') throw new Interrupted('SIGINT');
  return answer as Exclude<Answer, symbol>;
}

type Editing = { readonly file: string; readonly message: string; readonly isOneLine?: boolean };

/** A text as a person leaves it in their editor, or in a prompt where no variable names one. */
export async function editByHand(text: string, { file, message, isOneLine }: Editing, env: Io['env']): Promise<string> {
  const editor = env.VISUAL || env.EDITOR;
  if (editor) return editText(text, editor, file);
  const prompts = await import('@clack/prompts');
  const ask = isOneLine ? prompts.text : prompts.multiline;
  return answered(ask({ message, initialValue: text, output: process.stderr }));
}

/** As git does it: the variable is a command for the shell, and the file is its last word. */
async function editText(text: string, editor: string, name: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'skillopt-review-'));
  try {
    const file = join(folder, name);
    await writeFile(file, `${text}\n`, { mode: 0o600 });
    const { execa } = await import('execa');
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
