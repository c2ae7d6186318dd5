import { type ApplyPlan, scriptsIn } from '../../app/index.ts';
import { SkillError } from '../../core/contracts/index.ts';
import { oneLine } from '../../core/text/index.ts';
import type { RunVerdict } from '../../report/index.ts';
import { Answered } from '../answered.ts';
import { confirm } from '../terminal/confirm.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** A person sees the change first. Where nobody can be asked, a proven one is what was asked for. */
export async function requireConsent(
  { document }: ApplyPlan,
  { verdict, command }: { readonly verdict: RunVerdict; readonly command: string },
  terminal: Terminal,
): Promise<void> {
  if (!terminal.canAsk) {
    if (verdict.isProven) return;
    throw new SkillError('USAGE', verdict.text, { hint: `To write it all the same: ${command} --yes` });
  }
  const doubt = verdict.isProven ? '' : ' It is not proven.';
  if (await confirm(`Write this into ${oneLine(document.path)}?${doubt}`)) return;
  terminal.say('Nothing was written.');
  throw new Answered(1);
}

/** What agents will run is looked at by itself: who agrees to a text has not agreed to it. */
export async function requireScriptConsent(
  plan: ApplyPlan,
  { isAsked, command }: { readonly isAsked: boolean; readonly command: string },
  terminal: Terminal,
): Promise<void> {
  const scripts = scriptsIn(plan.others).map(({ name }) => oneLine(name));
  if (scripts.length === 0) return;
  if (!isAsked || !terminal.canAsk) {
    const hint = `Read their change above, and if agents may run them: ${command} --yes --scripts`;
    throw new SkillError('USAGE', `nothing was written: ${scripts.join(', ')} would change, and agents run scripts`, {
      hint,
    });
  }
  if (await confirm(`Agents will run ${scripts.join(', ')}. Write them as shown?`)) return;
  terminal.say('Nothing was written.');
  throw new Answered(1);
}
