import { realpath } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { setTimeout as sleepFor } from 'node:timers/promises';
import { isForeign } from '../agents/index.ts';
import {
  cancelJob,
  finishedNight,
  listFinishedNights,
  listJobs,
  type NightLimits,
  type NightPreview,
  nightStatus,
  previewNight,
  readJob,
  requireAsShown,
  startNight,
} from '../app/index.ts';
import { SkillError } from '../core/contracts/index.ts';
import { head, mapValues, oneLine, plural, shellWord } from '../core/text/index.ts';
import { commandOf, reportMarkdown, type SleepReport } from '../report/index.ts';
import { isProjectOf, marksOf, openSleep, type Proposal, placeOfProcess, readSleepState } from '../sleep/index.ts';
import { stateFolderOf } from '../stores/index.ts';
import { costFacts, inDollars } from './cost-facts.ts';
import { requireFolder } from './paths.ts';
import type { Facts, ToolContext } from './tool-context.ts';

type OfProject = { readonly project: string };
type Limits = { readonly [limit in 'maxUsd' | 'maxMinutes' | 'maxCalls']?: number | undefined };

const MOST_TEXT = 6_000;
const MOST_MARKDOWN = 16_000;
const MOST_LISTED = 40;

const placeOf = ({ env }: ToolContext) => placeOfProcess(env);
const stateOf = (context: ToolContext) => stateFolderOf(placeOf(context));

/** The project by its real path. A plugin’s own folder is never guessed to be one. */
async function requireProject(project: string, context: ToolContext): Promise<string> {
  await requireFolder(project, 'the folder of a project');
  const real = await realpath(project);
  const state = stateOf(context);
  if (isAbsolute(context.env.SKILLOPT_HOME || '/') && !isForeign(state, [real])) return real;
  const hint = 'A project could bring consents along. Pass the folder of the project, and keep the state elsewhere.';
  throw new SkillError('STATE_UNUSABLE', `the state folder ${state} lies in ${real}, or is not absolute`, { hint });
}

export async function showStatus({ project: given }: OfProject, context: ToolContext) {
  const project = await requireProject(given, context);
  const state = stateOf(context);
  const { pending, adopted, unfinished, lastNight, schedule, elsewhere } = await nightStatus(state, project);
  const jobs = (await listJobs(state)).filter((one) => one.project === project);
  const job = jobs.find((one) => one.state === 'running') ?? jobs[0];
  return {
    facts: {
      project,
      pending: pending.map((proposal) => proposalFacts(proposal, context)),
      adopted: adopted.length,
      elsewhere,
      lastNight: lastNight && { night: lastNight.night, at: lastNight.at, tasks: lastNight.nTasks },
      unfinished: unfinished && {
        ...{ night: unfinished.night, waitsForAnswers: unfinished.questions !== null },
        cost: costFacts(unfinished.cost),
      },
      everyDayAt: schedule?.at ?? null,
      job: job ? { jobId: job.id, state: job.state, phase: job.phase, cost: job.cost && costFacts(job.cost) } : null,
    },
  };
}

function proposalFacts(proposal: Proposal, context: ToolContext): Facts {
  const { id, digest, night, document, gain, confidence, baseBlock, block } = proposal;
  return {
    ...{ id, digest, night, target: `${document.kind} ${document.name}`, path: document.path },
    ...{ gain, confidence, before: head(baseBlock, MOST_TEXT), after: head(block, MOST_TEXT) },
    lookAt: marksOf(proposal)
      .filter(({ isStriking }) => isStriking)
      .map(({ line, reasons }) => ({ line, reasons })),
    command: adoptCommand(proposal, context),
  };
}

/** Names the digest, so that nothing else is adopted than what was shown. */
const adoptCommand = (proposal: Proposal, { called }: ToolContext) =>
  `${called(commandOf(proposal, 'adopt'))} --project ${shellWord(proposal.project)} --digest ${proposal.digest}`;

const limitsIn = ({ maxUsd, maxMinutes, maxCalls }: Limits): NightLimits => ({
  ...(maxUsd === undefined ? {} : { maxCostUsd: maxUsd }),
  ...(maxMinutes === undefined ? {} : { maxMinutes }),
  ...(maxCalls === undefined ? {} : { maxCalls }),
});

export async function showPlan({ project: given, ...limits }: OfProject & Limits, context: ToolContext) {
  const project = await requireProject(given, context);
  using sleep = await openSleep({ project, place: placeOf(context), isDataOnly: true });
  const { plan, tasksByRule, consentMissing, problems, resumes, digest } = await previewNight(sleep, {
    limits: limitsIn(limits),
  });
  const { estimate, pages, recipients, sessions } = plan;
  const { calls, tokens } = estimate.totals;
  const size = (texts: readonly string[]) => texts.reduce((sum, text) => sum + text.length, 0);
  const more = pages.length - MOST_LISTED;
  return {
    facts: {
      project,
      planDigest: digest,
      ...{
        sessions,
        tasks: estimate.tasks,
        tasksByRule,
        calls,
        tokens,
        usd: estimate.totalUsd && mapValues(estimate.totalUsd, (usd) => inDollars(usd)),
        minutes: estimate.minutes,
      },
      limits: limitsIn(limits),
      recipients: recipients.map(({ provider, name, roles, isRemote }) => {
        return { provider, name, roles, leavesThisMachine: isRemote, isAgreed: !consentMissing.includes(provider) };
      }),
      sent: pages.slice(0, MOST_LISTED).map(({ sessionId, source, project: folder, day, texts }) => {
        return { session: sessionId, agent: source, folder, day, characters: size(texts) };
      }),
      sentMore: Math.max(0, more),
      textsCommand: ofProject(context.called('skillopt sleep run --plan --page all'), project),
      consentCommand: consentMissing.length === 0 ? null : consentCommand(project, consentMissing, context),
      ...{ problems, resumes },
    },
  };
}

const ofProject = (command: string, project: string) => `${command} --project ${shellWord(project)}`;

/** Only a person gives it, by typing: the command shows the texts, asks, and runs the night. */
const consentCommand = (project: string, providers: readonly string[], { called }: ToolContext) =>
  `${ofProject(called('skillopt sleep run'), project)} --consent ${providers.map(shellWord).join(' ')}`;

type RunInput = OfProject & Limits & { readonly planDigest: string };

export async function run({ project: given, planDigest, ...limits }: RunInput, context: ToolContext) {
  const project = await requireProject(given, context);
  const command = ofProject(context.called('skillopt sleep run'), project);
  using sleep = await openSleep({ project, place: placeOf(context), isDataOnly: true });
  const planned = { planDigest, limits: limitsIn(limits) };
  const preview = await previewNight(sleep, planned);
  requireAsShown(preview, planDigest);
  if (preview.consentMissing.length > 0) {
    const hint = `Only the person can agree, once, by typing: ${consentCommand(project, preview.consentMissing, context)}`;
    throw new SkillError('CONSENT_MISSING', 'nobody agreed that texts of sessions are sent as planned', { hint });
  }
  if (!context.mayRun && !context.isAgreed) {
    if (context.canAsk && !context.wasAsked) return { ask: questionOf(preview, project, planned.limits) };
    const hint = `The person types: ${command}. Or the server is started with --allow run.`;
    throw new SkillError('CONSENT_MISSING', 'nobody agreed that this night is started', { hint });
  }
  return { facts: { jobId: await startNight(sleep, planned), project, next: 'sleep_job' } };
}

/** One line: nothing in the name of a folder can look like words of ours. */
function questionOf({ plan }: NightPreview, project: string, limits: NightLimits): string {
  const { sessions, recipients, estimate } = plan;
  const { low, high } = estimate.totals.calls;
  const who = recipients.map(({ name }) => oneLine(name)).join(', ') || 'nobody';
  const usd =
    estimate.totalUsd === null ? 'a price that is not known' : `at most ${estimate.totalUsd.high.toFixed(2)} dollars`;
  const within =
    Object.entries(limits)
      .map(([name, value]) => `${name} ${value}`)
      .join(', ') || 'none';
  return `Start a night? It sends texts of ${plural(sessions, 'session')} to ${who}, in ${low} to ${high} calls, for ${usd}. Limits: ${within}. Project: ${JSON.stringify(oneLine(project))}`;
}

type JobInput = {
  readonly jobId: string;
  readonly waitSeconds?: number | undefined;
  readonly cancel?: boolean | undefined;
};

export async function follow({ jobId, waitSeconds = 0, cancel = false }: JobInput, context: ToolContext) {
  const state = stateOf(context);
  if (cancel) await cancelJob(state, jobId);
  const until = Date.now() + 1_000 * waitSeconds;
  for (;;) {
    const { planDigest: _, cost, ...job } = await readJob(state, jobId);
    if (job.state !== 'running' || Date.now() >= until) return { facts: { ...job, cost: cost && costFacts(cost) } };
    await sleepFor(Math.min(500, Math.max(1, until - Date.now())), undefined, { signal: context.signal });
  }
}

export async function showReport(
  { project: given, night }: OfProject & { readonly night?: number | undefined },
  context: ToolContext,
) {
  const project = await requireProject(given, context);
  const place = { cwd: project, stateFolder: stateOf(context) };
  const found =
    night === undefined ? (await listFinishedNights(place))[0] : await finishedNight(`night-${night}`, place);
  if (found === undefined) {
    const hint = 'sleep_status says which night was the last.';
    const what = night === undefined ? 'no night is over yet' : `there is no night ${night} that is over`;
    throw new SkillError('USAGE', `${what} in ${project}`, { hint });
  }
  return { facts: reportFacts(found.report) };
}

function reportFacts(report: SleepReport): Facts {
  const { night, nSessions, nTasks, accepted, noEditsReason, needs } = report;
  const documents = report.documents.map(({ kind, name, isStaged, gain, test, verdict, before, after }) => {
    return {
      target: `${kind} ${name}`,
      isProposed: isStaged,
      gain,
      test,
      verdict,
      before: head(before, 2_000),
      after: head(after, 2_000),
    };
  });
  return {
    ...{ night, startedAt: report.startedAt, sessions: nSessions, tasks: nTasks, isAccepted: accepted },
    ...{ whyNothing: noEditsReason, needs, documents },
    cost: costFacts({ ...report, tokens: report.tokensUsed }),
    markdown: head(reportMarkdown(report), MOST_MARKDOWN),
  };
}

type AdoptInput = OfProject & { readonly id: string; readonly digest: string };

export async function showAdoption({ project: given, id, digest }: AdoptInput, context: ToolContext) {
  const project = await requireProject(given, context);
  const { proposals } = await readSleepState(stateOf(context));
  const isHere = isProjectOf(project);
  const proposal = proposals.find((one) => one.id === id && isHere(one.project) && one.status === 'pending');
  if (proposal === undefined) {
    const hint = 'sleep_status lists what waits, with ids.';
    throw new SkillError('USAGE', `no proposal ${JSON.stringify(head(id, 100))} waits in ${project}`, { hint });
  }
  return {
    facts: {
      adopted: false,
      isAsShown: proposal.digest === digest,
      ...proposalFacts(proposal, context),
      byWhom: TYPED,
    },
  };
}

const TYPED = 'Only the person adopts, by typing the command.';
