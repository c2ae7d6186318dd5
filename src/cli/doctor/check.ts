import { SkillError } from '../../core/errors.ts';
import { inFlags } from '../flags/in-flags.ts';

/** One thing that was looked at, and what to do about it if it is not well. */
export type Check = {
  readonly name: string;
  readonly isOk: boolean;
  readonly detail: string;
  readonly remedy?: string;
};

/** `work` answers with what was seen. What it throws on purpose is a finding; the rest of the checks continue. */
export async function check(name: string, work: () => Promise<string> | string): Promise<Check> {
  try {
    return { name, isOk: true, detail: await work() };
  } catch (error) {
    if (!(error instanceof SkillError)) throw error;
    const { message, hint } = inFlags(error);
    return { name, isOk: false, detail: message, ...(hint ? { remedy: hint } : {}) };
  }
}
