import { Interrupted } from '../interrupt.ts';

export type Option<Value> = { readonly value: Value; readonly label: string; readonly hint?: string };

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
