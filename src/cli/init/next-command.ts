import { join } from 'node:path';
import { SkillError } from '../../core/errors.ts';
import { shellWord } from '../../core/text/shell-word.ts';
import type { Found } from '../../project/discover/found.ts';
import { loadProject } from '../../project/load-project.ts';
import type { ProjectInput } from '../../project/project.ts';
import { whatToSet } from '../../project/propose/model-options.ts';
import type { Choice, Proposal } from '../../project/propose/propose.ts';
import { type CostEstimate, estimateWiring } from '../../runs/estimate-project.ts';
import { wireRun } from '../../runs/wire-run.ts';
import { estimateLine } from '../estimate/estimate-lines.ts';
import type { Next } from './init-lines.ts';

export type Costed = Next & { readonly estimate: CostEstimate | null };

type Place = {
  readonly found: Found;
  readonly file: string /** `cd DIR && `, or nothing. */;
  readonly goThere: string;
};

/** The one thing to do after a project was written. */
export async function nextCommand({
  choice,
  proposal,
  ...place
}: Place & { choice: Choice; proposal: Proposal }): Promise<Costed> {
  const { found, file, goThere } = place;
  const train = `${goThere}skillopt train`;
  if (proposal.missing === 'models') {
    const set = `First set one thing in ${file}: ${whatToSet(found.models)}`;
    const command = choice.source ? train : `${goThere}skillopt tasks draft`;
    return { command, why: `${set}. Then this command works.`, estimate: null };
  }
  if (proposal.missing === 'tasks') {
    const why = 'lets a model draft tasks from the skill, and says what that costs before it asks anything.';
    return { command: `${goThere}skillopt tasks draft`, why, estimate: null };
  }
  if (choice.source?.kind === 'env') {
    const why = `trains with ${choice.source.path}, which was not run yet; what it costs: skillopt estimate`;
    return { command: train, why, estimate: null };
  }
  return { command: train, ...(await costOf({ directory: found.directory, config: join(found.directory, file) })) };
}

type Costing = { readonly directory: string; readonly config: string; readonly flags?: ProjectInput };

/** What training will ask for, in one line, or why nobody can say. */
export async function costOf({ directory, config, flags = {} }: Costing): Promise<Omit<Costed, 'command'>> {
  try {
    const loaded = await loadProject({ flags, config, cwd: directory });
    const estimate = await estimateWiring(loaded, await wireRun(loaded));
    return { why: estimateLine(estimate), estimate };
  } catch (error) {
    if (!(error instanceof SkillError)) throw error;
    const why = `It will not begin before this is mended: ${error.message}${error.hint ? ` (${error.hint})` : ''}`;
    return { why, estimate: null };
  }
}

/** A command with flags for what a file lacks. */
export const withFlags = (command: string, flags: Readonly<Record<string, string>>): string =>
  [command, ...Object.entries(flags).map(([name, value]) => `--${name} ${shellWord(value)}`)].join(' ');
