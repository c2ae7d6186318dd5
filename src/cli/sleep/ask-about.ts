import { oneLine } from '../../core/text/printable.ts';
import type { ReviewDecision, ReviewedChange } from '../../sleep/staging/review.ts';
import { Interrupted } from '../interrupt.ts';

const CHOICES = [
  { value: 'keep' as const, label: 'keep' },
  { value: 'drop' as const, label: 'drop' },
  { value: 'edit' as const, label: 'edit by hand' },
];

/** Asks a person about each change in turn. Ctrl-C changes nothing. */
export async function askAbout(changes: readonly ReviewedChange[]): Promise<ReviewDecision[]> {
  const prompts = await import('@clack/prompts');
  const decisions: ReviewDecision[] = [];
  const answered = <Answer>(answer: Answer): Exclude<Answer, symbol> => {
    if (prompts.isCancel(answer)) throw new Interrupted('SIGINT');
    return answer as Exclude<Answer, symbol>;
  };
  for (const [index, { kind, rule }] of changes.entries()) {
    const message = `${index + 1} of ${changes.length}: ${kind === 'add' ? 'add' : 'take out'} «${oneLine(rule)}»`;
    const choice = answered(await prompts.select({ message, options: CHOICES, output: process.stderr }));
    if (choice !== 'edit') decisions.push(choice);
    else {
      const text = await prompts.text({
        message: 'The rule in your words',
        initialValue: rule,
        output: process.stderr,
      });
      decisions.push({ rule: answered(text) });
    }
  }
  return decisions;
}
