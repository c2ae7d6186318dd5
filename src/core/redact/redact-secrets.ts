import { memoize } from '../memoize.ts';
import { hideAddressCredentials } from './address-credentials.ts';
import { hideBrokenKeys } from './broken-keys.ts';
import { commandHider } from './command-values.ts';
import { undisguised } from './disguised-letters.ts';
import { hideHeaders } from './headers.ts';
import { hideKeyBlocks } from './key-blocks.ts';
import { keyHider } from './known-keys.ts';
import { hideNamedValues } from './named-values.ts';
import { hidePaymentNumbers } from './payment-numbers.ts';
import { hideRandomRuns } from './random-runs.ts';
import { SECRET } from './secret-value.ts';
import { hideSpokenValues } from './spoken-values.ts';
import { hideTableCells } from './tables.ts';

/** From what is certain to what is likely: what an earlier one hid, a later one leaves alone. */
const rulesFor = (text: string) => [
  hideKeyBlocks,
  hideAddressCredentials,
  hideBrokenKeys,
  keyHider(text),
  hideTableCells, // before what follows a name is taken for its value: below the head stands another
  hideHeaders,
  hideNamedValues,
  commandHider(text),
  hideSpokenValues,
  hideRandomRuns,
  hidePaymentNumbers,
];

/** A mark may uncover another secret, seldom twice. */
const MOST_PASSES = 5;

/**
 * The text with `[secret]` where a credential stood: keys by their form, values by their names, what people say is a password,
 * words too disordered to be anything else, numbers of cards and accounts. Takes any text, in time that grows with its length, and changes nothing when
 * it is called again.
 */
export const redactSecrets = (text: string): string => (text.length > LONGEST_KEPT ? hide(text) : hideOnce(text));

/** Names, ids and short answers come by again and again. */
const LONGEST_KEPT = 1_000;
const hideOnce = memoize((text: string) => hide(text), { maxEntries: 4_000 });

function hide(text: string): string {
  const shown = redactPlain(text);
  const looks = undisguised(text);
  if (looks === text) return shown;
  const revealed = redactPlain(looks); // Letters in disguise are kept as they are, unless they hide something.
  return revealed === looks || count(revealed) <= count(shown) ? shown : revealed;
}

const count = (text: string) => text.split(SECRET).length;

function redactPlain(text: string): string {
  const rules = rulesFor(text);
  let shown = text;
  for (let pass = 0; pass < MOST_PASSES; pass++) {
    const next = rules.reduce((before, rule) => rule(before), shown);
    if (next === shown) return shown;
    shown = next;
  }
  return shown;
}
