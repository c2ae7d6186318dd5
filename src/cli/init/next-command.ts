import { join } from 'node:path';
import { estimateWiring, wireRun } from '../../app/index.ts';
import { SkillError } from '../../core/contracts/index.ts';
import { shellWord } from '../../core/text/index.ts';
import {
  type Choice,
  DRAFTS,
  type Found,
  hasTasks,
  loadProject,
  type ProjectInput,
  type Proposal,
  whatToSet,
} from '../../project/index.ts';
import { type CostEstimate, estimateLine } from '../../report/index.ts';
import type { Next } from './init-lines.ts';

export type Costed = Next & { readonly estimate: CostEstimate | null };

type Place = {
  readonly found: Found;
  readonly file: string /** `cd DIR && `, or nothing. */;
  readonly goThere: string;
};

type Written = Place & { readonly choice: Choice; readonly proposal: Proposal };

/** What to do after a project was written: what has to be set, and the command. */
export async function nextCommand(written: Written): Promise<Costed> {
  const { choice, proposal, found, file } = written;
  const next = hasTasks(choice) ? await toTrain(written) : toTasks(written);
  if (proposal.unset.length === 0) return { ...next, estimate: next.estimate ?? null };
  const first = `set ${namesOf(proposal.unset)} in ${file}: ${whatToSet(found.models)}`;
  return { first, ...next, estimate: null };
}

/** `target, optimizer and judge`. */
const namesOf = (names: readonly string[]) => names.join(', ').replace(/, ([^,]*)$/, ' and $1');

type Command = Next & { readonly estimate?: CostEstimate | null };

async function toTrain({ found, choice, proposal, file, goThere }: Written): Promise<Command> {
  const command = `${goThere}skillopt train`;
  if (proposal.unset.length > 0) return { command, why: '' };
  if (choice.source?.kind === 'env')
    return {
      command,
      why: `trains with ${choice.source.path}, which was not run yet; what it costs: skillopt estimate`,
    };
  if (choice.weighed?.largeBytes !== undefined)
    return { command, why: `reads all of ${choice.source?.path}; what it costs: skillopt estimate` };
  return { command, ...(await costOf({ directory: found.directory, config: join(found.directory, file) })) };
}

const COST = 'and says what that costs before it asks anything';

/** Ways to come by tasks. Only files with a task on each line can be added to, and only a skill that says something can be asked about. */
function toTasks({ choice: { skill, source }, file, goThere }: Written): Command {
  const afterwards = `${goThere}skillopt train`;
  const draft = `${goThere}skillopt tasks draft`;
  if (source === undefined) return { command: draft, why: `lets a model draft tasks from the skill, ${COST}.` };
  if (skill === undefined)
    return {
      command: `${goThere}skillopt tasks check`,
      why: `says whether they are enough: write more tasks into ${source.path}.`,
      afterwards,
    };
  if (/\.(jsonl|ndjson)$/i.test(source.path))
    return { command: draft, why: `lets a model draft more tasks into ${source.path}, ${COST}.`, afterwards };
  const why = `lets a model draft tasks into ${DRAFTS}, ${COST}. Add yours to it, and set tasks: ${DRAFTS} in ${file}.`;
  return { command: `${draft} --out ${DRAFTS}`, why, afterwards };
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
