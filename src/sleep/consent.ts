import { SkillError } from '../core/contracts/index.ts';
import type { Recipient } from './plan/recipients.ts';
import { giveConsent, hasConsent, type SleepState } from './state/sleep-state.ts';

/** Raise it when more is sent than before: what people agreed to was less. */
const CONSENT_VERSION = 1;

/** Who would read texts of sessions outside of this machine, and was not agreed to yet. */
export function withoutConsent(recipients: readonly Recipient[], state: SleepState): Recipient[] {
  return recipients.filter(
    ({ isRemote, provider }) => isRemote && !hasConsent(state, { provider, textVersion: CONSENT_VERSION }),
  );
}

/** What a person is asked, for one recipient. */
export const consentQuestion = ({ name, roles }: Recipient) =>
  `May these texts of your sessions be sent to ${name}, as ${roles.join(' and ')}? The answer yes is remembered.`;

/** The state once somebody has agreed. */
export function withConsent(state: SleepState, recipients: readonly Recipient[], by: string, at: string): SleepState {
  const give = (before: SleepState, { provider }: Recipient) =>
    giveConsent(before, { provider, by, at, textVersion: CONSENT_VERSION });
  return recipients.reduce(give, state);
}

/** Where nobody can be asked. `pages`: how the texts are seen. */
export function consentMissing(recipients: readonly Recipient[], pages?: string): SkillError {
  const names = recipients.map(({ name }) => name).join(', ');
  const providers = recipients.map(({ provider }) => provider).join(' ');
  return new SkillError('CONSENT_MISSING', `nobody agreed yet that texts of your sessions are sent to ${names}`, {
    hint: `Look at them ${pages === undefined ? 'in the plan of the night' : `with ${pages}`}, and agree once: consent ${providers}`,
  });
}
