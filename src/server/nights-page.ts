import { basename, join } from 'node:path';
import { adoptProposals, type FinishedNight, listFinishedNights, type NightsPlace } from '../app/index.ts';
import type { NightListed, NightsPage, ProposalPage } from '../core/page/index.ts';
import { oneLine, percent, plural, points } from '../core/text/index.ts';
import type { SleepReport } from '../report/index.ts';
import { isProjectOf, marksOf, type Proposal, readSleepState } from '../sleep/index.ts';
import { Refusal } from './failure.ts';

/** The nights of a project and what they propose. */
export async function nightsPage(place: NightsPlace): Promise<NightsPage> {
  const nights = await listFinishedNights(place);
  const proposals = (await readSleepState(place.stateFolder)).proposals.filter(isOfProject(place));
  return {
    project: projectName(place),
    nights: nights.map(nightRow),
    proposals: proposals.toReversed().map((one) => proposalPage(one, nights)),
  };
}

const projectName = ({ cwd }: NightsPlace) => basename(cwd);
const isOfProject = ({ cwd }: NightsPlace) => {
  const isOf = isProjectOf(cwd);
  return ({ project }: Proposal) => isOf(project);
};

function nightRow({ name, report }: FinishedNight): NightListed {
  const { night, endedAt, nSessions, nTasks, calls, tokensUsed, costUsd = 0, isPriced = false } = report;
  const cost = { calls, tokens: tokensUsed, costUsd, isPriced };
  return { name, night, endedAt, head: headOf(report), sessions: nSessions, tasks: nTasks, cost };
}

function headOf({ documents, noEditsReason }: SleepReport): string {
  const staged = documents.filter(({ isStaged }) => isStaged).map(({ name }) => oneLine(name));
  if (staged.length > 0) return `Proposed: ${staged.join(', ')}`;
  return noEditsReason === '' ? 'Nothing is proposed' : `Nothing is proposed. ${oneLine(noEditsReason)}`;
}

function proposalPage(proposal: Proposal, nights: readonly FinishedNight[]): ProposalPage {
  const { id, night, status, document, digest, baseBlock, block } = proposal;
  return {
    ...{ id, night, status, digest, before: baseBlock, after: block },
    document: `${document.kind} ${document.name}`,
    path: join('…', ...document.path.split(/[/\\]/).slice(-3)),
    evidence: evidenceFor(proposal, nights.find((one) => one.report.night === night)?.report),
    marks: marksOf(proposal),
  };
}

/** Why the night proposes it, a sentence each. */
function evidenceFor({ gain, confidence, document }: Proposal, report: SleepReport | undefined): string[] {
  const about = report?.documents.find(({ path }) => path === document.path);
  const measured =
    gain && `${points(gain.value)} points on held-out tasks (${points(gain.low)} to ${points(gain.high)})`;
  const { test } = about ?? {};
  const deltas = report?.gateTrials.filter(({ accepted }) => accepted).flatMap(({ taskDeltas }) => taskDeltas) ?? [];
  const moved = deltas.filter(({ status }) => status !== 'unchanged');
  return [
    ...(measured ? [`${measured}${confidence === null ? '' : `, ${percent(confidence)} sure`}.`] : []),
    ...(about && about.verdict !== '' ? [about.verdict] : []),
    ...(test
      ? [`Sealed test, ${plural(test.tasks, 'task')}: ${percent(test.before)} before, ${percent(test.after)} after.`]
      : []),
    ...moved.map(
      ({ id, before, after, status }) =>
        `${status}: ${percent(before)} → ${percent(after)}, ${oneLine(report?.intents[id] ?? id)}`,
    ),
  ];
}

export type AdoptRequest = { readonly id: string; readonly project: string; readonly digest: string };

/** Adopts the proposal whose text the page has shown with its marks, and no other. */
export async function adoptShown(
  place: NightsPlace,
  { id, project, digest }: AdoptRequest,
): Promise<{ paths: string[] }> {
  const choose = (proposals: readonly Proposal[]) => {
    const found = proposals.filter(isOfProject(place)).find((one) => one.id === id);
    if (project !== projectName(place) || !found)
      throw new Refusal(404, `there is no proposal ${id} of ${project}`, 'Reload the page to see what waits.');
    if (found.status !== 'pending')
      throw new Refusal(409, `proposal ${id} does not wait any more: it is ${found.status}`, 'Reload the page.');
    return [found];
  };
  const { adopted } = await adoptProposals({
    stateFolder: place.stateFolder,
    choose,
    agreed: [digest],
    digests: [digest],
  });
  return { paths: adopted.map(({ path }) => basename(path)) };
}
