import type { ChatModel } from '../../core/contracts/index.ts';
import { count, dollars, oneLine, plural } from '../../core/text/index.ts';
import { costUsd, countTokens } from '../../models/index.ts';
import type { LoadedProject } from '../../project/index.ts';
import { estimateDrafting } from '../../tasks/index.ts';
import { priceFor } from '../../train/index.ts';
import { confirm } from '../terminal/confirm.ts';
import type { Terminal } from '../terminal/terminal.ts';

export type Place = {
  readonly out: string;
  readonly shown: string;
  readonly loaded: LoadedProject | undefined;
  readonly model: ChatModel;
  /** Of the model, for people. */
  readonly name: string;
  /** The skill, with its files. */
  readonly reading: string;
};

/** What it will ask for is said before it asks; a person at a terminal may say no. */
export async function isAgreed(
  { yes, quiet }: { readonly yes?: boolean | undefined; readonly quiet?: boolean | undefined },
  missing: number,
  place: Place,
  terminal: Terminal,
): Promise<boolean> {
  const cost = await costLine(missing, place);
  if (terminal.canAsk && !yes) return confirm(`${cost} Draft them now?`);
  if (!quiet) terminal.say(cost);
  return true;
}

async function costLine(missing: number, { shown, model, name, reading, loaded }: Place): Promise<string> {
  const { likely, mostCalls } = estimateDrafting(missing, await countTokens(reading));
  const price = priceFor(model, loaded?.project.prices ?? {});
  const usd = price
    ? `about $${dollars(costUsd({ ...likely, cached: 0 }, price))}`
    : 'of a model whose price is not known';
  const calls = `about ${count(likely.calls)} calls (at most ${count(mostCalls)})`;
  const tokens = `${count(likely.input + likely.output)} tokens`;
  return `${plural(missing, 'task')} for ${shown} by ${oneLine(name)}: ${calls}, ${tokens}, ${usd}.`;
}
