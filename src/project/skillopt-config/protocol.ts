import type { ProjectInput } from '../project.ts';
import { readFor } from './read-value.ts';

/** What SkillOpt does where a file says nothing, as far as the preset does something else. */
const REFERENCE: ProjectInput = { preset: 'paper', slowUpdateGate: false, optimizerMaxCompletionTokens: 16_384 };

/** What a target may answer there, for the environment that has its limit in the extras. */
const QUESTION_LIMIT = { maxCompletionTokens: 16_384 };

/** Settings that a file means without saying them, and lines that tell so. */
type Meant = { readonly settings: ProjectInput; readonly notes: readonly string[] };

/** A SkillOpt config means SkillOpt's protocol, unless it or the command line names a preset. */
export function protocolOf(preset: unknown, source: string): Meant {
  if (preset !== undefined) return { settings: preset === 'paper' ? REFERENCE : {}, notes: [] };
  const note = `${source} is a SkillOpt config and trains by SkillOpt's protocol (preset: paper); ours is --preset default`;
  return { settings: REFERENCE, notes: [note] };
}

/** The limit of an answer for the environment qa, which a file without a name means too. */
export function extrasOf({ env = 'qa', extras }: ProjectInput, protocol: Meant): ProjectInput {
  const isSkillOpts = protocol.settings === REFERENCE && env === 'qa';
  return isSkillOpts ? { extras: { ...QUESTION_LIMIT, ...(extras as object | undefined) } } : {};
}

/** A budget that decays stays at or above the least, so a least budget above the greatest is the budget of every step. */
export function budgetsOf(input: ProjectInput, source: string): Meant {
  const { editBudget: greatest = 4, minEditBudget: least = 2, lrScheduler = 'cosine' } = input;
  if (typeof greatest !== 'number' || typeof least !== 'number' || least <= greatest)
    return { settings: {}, notes: [] };
  const isDecaying = ['linear', 'cosine'].includes(String(readFor('lrScheduler', lrScheduler)));
  const budget = isDecaying ? least : greatest;
  const why = `min_learning_rate (${least}) is above learning_rate (${greatest})`;
  return {
    settings: { editBudget: budget, minEditBudget: budget },
    notes: [`${source}: ${why}: every step may make ${budget}, as in SkillOpt`],
  };
}
