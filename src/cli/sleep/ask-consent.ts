import {
  consentMissing,
  consentQuestion,
  openSleepState,
  type Recipient,
  readSleepState,
  withConsent,
  withoutConsent,
} from '../../sleep/index.ts';
import { Answered } from '../answered.ts';
import { confirm } from '../terminal/ask.ts';
import type { Terminal } from '../terminal/terminal.ts';

type Asking = {
  readonly folder: string;
  readonly recipients: readonly Recipient[];
  /** Providers that were agreed to by a flag. */
  readonly given: readonly string[];
  /** The command that shows every text that may be sent. */
  readonly pages: string;
};

/** Returns when everybody who would read something was agreed to; asks once for each, where there is somebody to ask. */
export async function requireConsent({ folder, recipients, given, pages }: Asking, terminal: Terminal): Promise<void> {
  const missing = withoutConsent(recipients, await readSleepState(folder));
  const asked = missing.filter(({ provider }) => !given.includes(provider));
  if (asked.length > 0 && !terminal.canAsk) throw consentMissing(asked, pages);
  if (asked.length > 0) terminal.say(`See every text that may be sent: ${pages}`);
  for (const recipient of asked) {
    if (await confirm(consentQuestion(recipient))) continue;
    terminal.say('Nothing was sent.');
    throw new Answered(1);
  }
  if (missing.length === 0) return;
  await using open = await openSleepState(folder, { onWarning: terminal.warn });
  const at = new Date().toISOString();
  const byFlag = missing.filter((recipient) => !asked.includes(recipient));
  await open.update((state) => withConsent(withConsent(state, byFlag, 'flag', at), asked, 'terminal', at));
}

/** As they were typed: one by one, or with commas between them. */
export const providersIn = (consent: readonly string[] = []): string[] =>
  consent.flatMap((names) => names.split(',')).map((name) => name.trim());
