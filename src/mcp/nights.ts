import { realpath } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { setTimeout as sleepFor } from 'node:timers/promises';
import { isForeign } from '../agents/index.ts';
import {
  cancelJob,
  finishedNight,
  flagWords,
  listFinishedNights,
  listJobs,
  type NightEstimate,
  type NightLimits,
  type NightPreview,
  nightStatus,
  previewNight,
  readJob,
  requireAsShown,
  startNight,
} from '../app/index.ts';
import { SkillError } from '../core/contracts/index.ts';
import type { Cost } from '../core/run/index.ts';
import { count, head, isTypable, mapValues, oneLine, plural, shellWord } from '../core/text/index.ts';
import { commandOf, type Range, reportMarkdown, type SleepReport } from '../report/index.ts';
import {
  isProjectOf,
  marksOf,
  openSleep,
  type Proposal,
  placeOfProcess,
  readSleepState,
  type SleepSettings,
} from '../sleep/index.ts';
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
function adoptCommand(proposal: Proposal, { called }: ToolContext): string {
  const command = ofProject(called(commandOf(proposal, 'adopt')), proposal.project);
  return command === undefined ? NO_COMMAND : `${command} --digest ${proposal.digest}`;
}

const NO_COMMAND = 'No command is given: the name of the folder cannot be typed safely. Rename the folder.';

/** A command for this folder; `undefined` where a shell, or who copies it, could take its name for another one. */
const ofProject = (command: string, project: string): string | undefined =>
  isTypable(project) ? `${command} --project ${shellWord(project)}` : undefined;

const limitsIn = ({ maxUsd, maxMinutes, maxCalls }: Limits): NightLimits => ({
  ...(maxUsd === undefined ? {} : { maxCostUsd: maxUsd }),
  ...(maxMinutes === undefined ? {} : { maxMinutes }),
  ...(maxCalls === undefined ? {} : { maxCalls }),
});

export async function showPlan({ project: given, ...limits }: OfProject & Limits, context: ToolContext) {
  const project = await requireProject(given, context);
  using sleep = await openSleep({ project, place: placeOf(context), isDataOnly: true });
  const preview = await previewNight(sleep, { limits: limitsIn(limits) });
  const { plan, tasksByRule, consentMissing, problems, resumes, paid, digest } = preview;
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
      likely: likelyOf(estimate),
      limits: { ...limits, ...tokenLimit(preview, sleep.settings) },
      recipients: recipients.map(({ provider, name, roles, isRemote }) => {
        return { provider, name, roles, leavesThisMachine: isRemote, isAgreed: !consentMissing.includes(provider) };
      }),
      sent: pages.slice(0, MOST_LISTED).map(({ sessionId, source, project: folder, day, texts }) => {
        return { session: sessionId, agent: source, folder, day, characters: size(texts) };
      }),
      sentMore: Math.max(0, more),
      textsCommand: ofProject(context.called('skillopt sleep run --plan --page all'), project) ?? NO_COMMAND,
      consentCommand: consentMissing.length === 0 ? null : nightCommand(project, limits, context, consentMissing),
      ...{ problems, resumes, paid: paid && costFacts(paid) },
    },
  };
}

const likelyOf = ({ likely, totals }: NightEstimate) => ({
  calls: within(likely.calls, totals.calls),
  tokens: within(likely.tokens, totals.tokens),
  usd: likely.usd,
});

const within = (value: number, { low, high }: Range) => Math.round(Math.min(high, Math.max(low, value)));

/** The hard limit of tokens, where the night may reach it. */
const tokenLimit = ({ plan }: NightPreview, { maxTokensPerNight }: SleepSettings) =>
  plan.estimate.totals.tokens.high > maxTokensPerNight ? { maxTokensPerNight } : {};

/** The night as a person types it, within the same limits. Consent is given by it alone: it shows the texts, asks, and runs the night. */
function nightCommand(project: string, limits: Limits, { called }: ToolContext, providers: readonly string[] = []) {
  const command = ofProject(called('skillopt sleep run'), project);
  const consent = providers.length > 0 ? ['--consent', ...providers] : [];
  const words = [...flagWords(limitsIn(limits)), ...consent].map(shellWord);
  return command === undefined ? NO_COMMAND : [command, ...words].join(' ');
}

type RunInput = OfProject & Limits & { readonly planDigest: string };

export async function run({ project: given, planDigest, ...limits }: RunInput, context: ToolContext) {
  const project = await requireProject(given, context);
  using sleep = await openSleep({ project, place: placeOf(context), isDataOnly: true });
  const planned = { planDigest, limits: limitsIn(limits) };
  const preview = await previewNight(sleep, planned);
  requireAsShown(preview, planDigest);
  if (preview.consentMissing.length > 0) {
    const command = nightCommand(project, limits, context, preview.consentMissing);
    const hint = `Only the person can agree, once, by typing: ${command}`;
    throw new SkillError('CONSENT_MISSING', 'nobody agreed that texts of sessions are sent as planned', { hint });
  }
  if (!context.mayRun && !context.isAgreed) {
    if (context.wasAsked) throw new SkillError('CONSENT_MISSING', 'the person declined', { hint: DECLINED });
    const bounds = { ...limits, ...tokenLimit(preview, sleep.settings) };
    if (context.canAsk) return { ask: questionOf(preview, project, bounds) };
    const hint = `The person types: ${nightCommand(project, limits, context)}. Or the server is started with --allow run.`;
    throw new SkillError('CONSENT_MISSING', 'nobody agreed that this night is started', { hint });
  }
  return { facts: { jobId: await startNight(sleep, planned), project, next: 'sleep_job' } };
}

const DECLINED = 'Nothing was started. Do not ask again unless they want it.';

type Bounds = Limits & { readonly maxTokensPerNight?: number };

/** One line: nothing in the name of a folder can look like words of ours. */
function questionOf({ plan, resumes, paid }: NightPreview, project: string, limits: Bounds): string {
  const { sessions, recipients, estimate } = plan;
  const who = recipients.map(({ name }) => oneLine(name)).join(', ') || 'nobody';
  const { maxCalls = Number.POSITIVE_INFINITY } = limits;
  const { low, high } = estimate.totals.calls;
  const calls = `${count(Math.min(low, maxCalls))} to ${count(Math.min(high, maxCalls))} calls`;
  const given = Object.entries(limits).map(([name, value]) => `${name} ${value}`);
  const opening = resumes === null ? 'Start a night?' : `Resume night ${resumes}?`;
  return [
    `${opening} It sends texts of ${plural(sessions, 'session')} to ${who}, in ${calls}, for ${mostUsd(estimate, limits)}.`,
    ...(paid ? [`${paidWords(paid)} before, which counts towards the limits.`] : []),
    `Limits: ${given.join(', ') || 'none'}. Project: ${JSON.stringify(oneLine(project))}`,
  ].join(' ');
}

/** The least of the estimate and the limit holds. A limit in dollars ends nothing whose price is not known. */
function mostUsd({ totalUsd }: NightEstimate, { maxUsd = Number.POSITIVE_INFINITY }: Limits): string {
  if (totalUsd === null) return 'a price that is not known';
  return `at most ${Math.min(totalUsd.high, maxUsd).toFixed(2)} dollars`;
}

function paidWords({ calls, costUsd, isPriced }: Cost): string {
  const price = isPriced ? `${costUsd.toFixed(2)} dollars` : 'a price that is not known';
  return `It has made ${plural(calls, 'call')} for ${price}`;
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
