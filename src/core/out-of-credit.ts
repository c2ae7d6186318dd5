/** How providers say that an account has no credit left, or has reached what it may spend. */
const STOPPED = [
  /insufficient[ _](?:quota|balance|credits?|funds)|requires more credits|out of credits?|used all available credits/i,
  /credit balance is too low|credits? (?:are|is|have been) (?:depleted|exhausted|used up)|余额不足|arrearage/i,
  /billing_(?:hard_limit_reached|not_active|error|disabled)|requires billing|billing (?:hard )?limit has been reached/i,
  /spend(?:ing)?[ _](?:limit|cap)|exceeded_current_quota|payment required|(?:hit|reached) your (?:specified API )?usage limit/i,
];

/** Said of a day or a month as well as of a minute. */
const QUOTA = /exceeded your current quota/i;
const OF_A_MINUTE = /per ?minute|retry in \d/i;
const OF_A_DAY = /perday/i;

/** Whether a refusal is about money: unlike with a rate limit, waiting does not help. */
export function isOutOfCredit(words: string): boolean {
  if (STOPPED.some((pattern) => pattern.test(words)) || OF_A_DAY.test(words)) return true;
  return QUOTA.test(words) && !OF_A_MINUTE.test(words);
}

export const CREDIT_HINT =
  'The account has no credit left, or has reached a limit of its own: waiting does not help. See to its billing, then start again.';
