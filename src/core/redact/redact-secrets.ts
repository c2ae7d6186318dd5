import { hideAddressCredentials } from './address-credentials.ts';
import { commandHider } from './command-values.ts';
import { hideHeaders } from './headers.ts';
import { hideKeyBlocks } from './key-blocks.ts';
import { keyHider } from './known-keys.ts';
import { hideNamedValues } from './named-values.ts';
import { hideRandomRuns } from './random-runs.ts';
import { hideSpokenValues } from './spoken-values.ts';
import { hideTableCells } from './tables.ts';

/** From what is certain to what is likely: what an earlier one hid, a later one leaves alone. */
const rulesFor = (text: string) => [
  hideKeyBlocks,
  hideAddressCredentials,
  keyHider(text),
  hideTableCells, // before what follows a name is taken for its value: below the head stands another
  hideHeaders,
  hideNamedValues,
  commandHider(text),
  hideSpokenValues,
  hideRandomRuns,
];

/** A mark may uncover another secret, seldom twice. */
const MOST_PASSES = 5;

/**
 * The text with `[secret]` where a credential stood: keys by their form, values by their names, what people say is a password,
 * and words too disordered to be anything else. Takes any text, in time that grows with its length, and changes nothing when
 * it is called again.
 */
export function redactSecrets(text: string): string {
  const rules = rulesFor(text);
  let shown = text;
  for (let pass = 0; pass < MOST_PASSES; pass++) {
    const next = rules.reduce((before, rule) => rule(before), shown);
    if (next === shown) return shown;
    shown = next;
  }
  return shown;
}
