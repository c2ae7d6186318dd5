import { SkillError } from '../../core/contracts/index.ts';
import { inFlags } from '../flags/in-flags.ts';

/** One thing that was looked at, and what to do about it if it is not well. */
export type Check = {
  readonly name: string;
  readonly isOk: boolean;
  readonly detail: string;
  readonly remedy?: string;
  /** The same for programs, of what they ask for. */
  readonly facts?: Facts;
};
export type Facts = Readonly<Record<string, string | null>>;

type Seen = string | { readonly detail: string; readonly facts: Facts };

/** `work` answers with what was seen. What it throws on purpose is a finding; the rest of the checks continue. */
export async function check(name: string, work: () => Promise<Seen> | Seen): Promise<Check> {
  try {
    const seen = await work();
    return { name, isOk: true, ...(typeof seen === 'string' ? { detail: seen } : seen) };
  } catch (error) {
    if (!(error instanceof SkillError)) throw error;
    const { message, hint } = inFlags(error);
    return { name, isOk: false, detail: message, ...(hint ? { remedy: hint } : {}) };
  }
}
