import { SkillError } from '../../core/contracts/index.ts';
import { isAgentSpec } from '../../project/index.ts';
import type { SleepKey, SleepSettings } from './sleep-settings.ts';

/** Where a value was said; a key that is missing has its default. */
type Origins = Readonly<Partial<Record<SleepKey, string>>>;

/** Settings whose default depends on what else was said. */
export const derivedSettings = (settings: SleepSettings, origins: Origins): SleepSettings =>
  withAgentTokens(withFractions(settings, origins), origins);

/** What an agent with tools takes for the smallest night that can prove something, and some more. */
const AGENT_TOKENS = 10_000_000;

/** One attempt with tools takes as much as a night of answers in words: that default would let none begin. */
function withAgentTokens(settings: SleepSettings, { maxTokensPerNight }: Origins): SleepSettings {
  const isForAgent = isAgentSpec(settings.target) && maxTokensPerNight === undefined;
  return isForAgent ? { ...settings, maxTokensPerNight: AGENT_TOKENS } : settings;
}

/** The holdout counts only when somebody said it and nobody said `valFraction`. */
function withFractions(settings: SleepSettings, origins: Origins): SleepSettings {
  const isHoldout = origins.valFraction === undefined && origins.holdoutFraction !== undefined;
  const valFraction = isHoldout ? settings.holdoutFraction : settings.valFraction;
  const { testFraction } = settings;
  if (valFraction + testFraction < 1) return { ...settings, valFraction, holdoutFraction: valFraction };
  const place = origins.testFraction ?? origins.valFraction ?? origins.holdoutFraction;
  const message = `${place}: valFraction ${valFraction} and testFraction ${testFraction} leave no task to learn from`;
  throw new SkillError('CONFIG_INVALID', message, { hint: 'Their sum must be less than 1.' });
}
