import { capWarnings, openRun, requireWithinCaps } from '../app/index.ts';
import { agentTargetOf, type Project } from '../project/index.ts';
import { type CostEstimate, estimateLine } from '../report/index.ts';
import { limitsAsFlags } from './flags/in-flags.ts';
import { type ProjectFlags, typedProject } from './flags/project-flags.ts';
import { trainShown } from './report-run.ts';
import type { Terminal } from './terminal/terminal.ts';

export type TrainFlags = ProjectFlags & { readonly fresh?: boolean; readonly ignoreEstimate?: boolean };

export async function train(flags: TrainFlags, terminal: Terminal): Promise<void> {
  const { fresh: isFresh = false, quiet: isQuiet = false, ignoreEstimate = false } = flags;
  const loaded = await typedProject(flags, terminal);
  if (!isQuiet) loaded.notes.forEach(terminal.note);
  await using run = await openRun(loaded, { env: terminal.io.env, notices: terminal });
  if (run.isNew || isFresh) announceCost(await run.estimate(), loaded.project, { isQuiet, ignoreEstimate, terminal });
  const hasAgent = agentTargetOf(loaded.project) !== undefined;
  await trainShown(run.path, { isQuiet, hasAgent }, terminal, (watching) => run.train({ isFresh, ...watching }));
}

type Announcement = { readonly isQuiet: boolean; readonly ignoreEstimate: boolean; readonly terminal: Terminal };

/** What a new run will ask for, before it asks for anything. */
function announceCost(costs: CostEstimate, caps: Project, { isQuiet, ignoreEstimate, terminal }: Announcement): void {
  if (!ignoreEstimate) requireWithinCaps(costs, caps);
  if (!isQuiet) terminal.say(estimateLine(costs));
  for (const warning of capWarnings(costs, caps)) terminal.warn(limitsAsFlags(warning));
}
