import { Interrupted } from '../interrupt.ts';

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
