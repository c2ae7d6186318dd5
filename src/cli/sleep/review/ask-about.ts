import { findPoison } from '../../../core/guard/index.ts';
import { oneLine } from '../../../core/text/index.ts';
import type { ReviewDecision, ReviewedChange } from '../../../sleep/index.ts';
import { answered, editText } from '../../terminal/ask.ts';
import type { Terminal } from '../../terminal/terminal.ts';

const CHOICES = [
  { value: 'keep' as const, label: 'keep' },
  { value: 'drop' as const, label: 'drop' },
  { value: 'edit' as const, label: 'edit by hand' },
  { value: 'quit' as const, label: 'quit, and change nothing' },
];

/** Asks a person about each change in turn. `undefined`: they quit. Ctrl-C changes nothing either. */
export async function askAbout(
  changes: readonly ReviewedChange[],
  terminal: Terminal,
): Promise<ReviewDecision[] | undefined> {
  const { select } = await import('@clack/prompts');
  const decisions: ReviewDecision[] = [];
  while (decisions.length < changes.length) {
    const change = changes[decisions.length]!;
    const message = `${decisions.length + 1} of ${changes.length}: ${change.kind === 'add' ? 'add' : 'take out'} «${oneLine(change.rule)}»`;
    const choice = await answered(select({ message, options: CHOICES, output: process.stderr }));
    if (choice === 'quit') return undefined;
    const decision = choice === 'edit' ? await editedByHand(change.rule, terminal) : choice;
    if (decision !== undefined) decisions.push(decision); // else it is asked about again
  }
  return decisions;
}

/** An emptied rule is dropped. One that says or hides what no rule may is quarantined: nothing, with the reason shown. */
async function editedByHand(rule: string, terminal: Terminal): Promise<ReviewDecision | undefined> {
  const { VISUAL, EDITOR } = terminal.io.env;
  const editor = VISUAL || EDITOR;
  const text = (editor ? await editText(rule, editor, 'rule.md') : await inPrompt(rule)).trim();
  if (text === '') return 'drop';
  const poison = findPoison(text);
  if (poison === undefined) return text === rule ? 'keep' : { rule: text };
  terminal.warn(`quarantined: ${poison.reason}`);
  return undefined;
}

async function inPrompt(rule: string): Promise<string> {
  const { multiline, text } = await import('@clack/prompts');
  const options = { message: 'The rule in your words', initialValue: rule, output: process.stderr };
  return answered(rule.includes('\n') ? multiline(options) : text(options));
}
