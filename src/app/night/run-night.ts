/*
 * A night, in order.
 * `refuseWithHandoff` and `requireConsent` (below) may end it. They come first: before the lock, the sessions and the first call. The
 * plan, which comes after the harvest, is only shown. Nobody is asked about simulated models, a handoff, or an address on this
 * machine. An agent with tools needs a consent of its own (`claude-agent`), because it also opens files of the project.
 * `runCycle` takes `night.lock`, resumes the last night or begins one, and lets `gatherNight` find its tasks, which may be paid.
 * Secrets are masked when a session is read, before anything of it is kept or sent; tasks of a file, before they are kept.
 * `consolidate` trains the documents. One with fewer than six held-out tasks cannot pass a gate, and is not tried; if none is tried,
 * the night proposes nothing.
 * Poison (text that hides, or orders to fetch or run something) is looked for before anything is measured, so none is ever proven:
 * in what analysts propose, each edit and all together (`Quarantine.take`); in selected edits, rewrites and reminders (`refuseText`);
 * and when an edit is applied, which skips hidden text. The other edits are kept. Poison is not staged; the report lists it with reasons.
 * Limits. While tasks are found, half is kept back: without any task BUDGET_EXHAUSTED, otherwise the night continues with those it has.
 * Before a first step is done: thrown for the first document, a note for a later one. In the search: the best so far is measured and
 * proven by what was kept back. In the proof: it stays unproven. The last two are a note in the report, and the night continues.
 * `finishNight` writes report.json, report.md and diagnostics.json; then the state: the tasks for later nights, which sessions were
 * considered, the proposals; then `done` in night.json. All of that also in a night that proposes nothing. No night writes into a live
 * document: a proposal lies in the night's folder until a person adopts it (`adoptProposals`).
 * Handoff: what has no usable answer in the night's `handoff/answers/ID.md` waits (ID: a hash of role, messages and draw). Once no more
 * is asked, all of it is written to `handoff/ROLE.md` and `.json`, and the night stops with ANSWER_PENDING. The next start resumes it;
 * an answer that is not the JSON that was asked for is asked for again, with what is wrong.
 * Dry run: no lock, no folder, no resume, no proposal, no state: tasks, sessions and spending are forgotten. The index of sessions, the
 * replies of the model that finds tasks, and a consent are kept all the same.
 */
import { agentPrograms } from '../../agents/index.ts';
import { type ChatModel, SkillError } from '../../core/contracts/index.ts';
import { defined } from '../../core/text/index.ts';
import { agentTargetOf, resolveModel } from '../../project/index.ts';
import {
  type NightOptions as CycleOptions,
  type CycleOutcome,
  canMine,
  consentMissing,
  type FoundWork,
  findWork,
  type GatherEvent,
  isHandoff,
  type OpenSleep,
  openHandoff,
  openSleepState,
  type Recipient,
  readSleepState,
  requireRoom,
  rolesOfProject,
  runNightIn,
  skillNamed,
  withConsent,
  withoutConsent,
} from '../../sleep/index.ts';
import { digestOfPlan, type NightLimits, type NightPlan, planOf, requireShown } from './plan-night.ts';

/** Who may read texts of sessions. */
export type NightConsent = {
  /** Providers that the person has agreed to. */
  readonly providers?: readonly string[] | undefined;
  /** Asks the person about the others. Returns when they agree, throws otherwise. Default: throws `CONSENT_MISSING`. */
  readonly ask?: ((recipients: readonly Recipient[]) => Promise<void>) | undefined;
};

export type NightEvent = GatherEvent | { readonly type: 'night-planned'; readonly plan: NightPlan };

export type NightOptions = Pick<CycleOptions, 'since' | 'tasksFile' | 'isDryRun' | 'observers' | 'signal'> & {
  readonly limits?: NightLimits | undefined;
  readonly consent?: NightConsent | undefined;
  /** The digest of the plan that was shown: another night is not run. */
  readonly planDigest?: string | undefined;
  readonly onEvent?: ((event: NightEvent) => void) | undefined;
};

/** Runs a night with the models that the settings name. Asks for consent before anything is sent. */
export async function runNight(sleep: OpenSleep, options: NightOptions = {}): Promise<CycleOutcome> {
  const { limits = {}, consent, planDigest, onEvent, ...night } = options;
  const { models: specs } = await planOf(sleep, []);
  const handoff = isHandoff(specs.target) ? openHandoff() : undefined;
  if (handoff) refuseWithHandoff(limits, options.isDryRun === true);
  const { models, work, agent } = await openModels(sleep, { consent, models: handoff?.models });
  const settings = { ...sleep.settings, llmMine: sleep.settings.llmMine && canMine(specs.optimizer) };
  return runNightIn(
    { ...sleep, settings },
    {
      ...{ ...night, ...models, work, agent, handoff, config: defined(limits) },
      onGather: async (event) => {
        onEvent?.(event);
        if (event.type !== 'sessions-chosen') return;
        const plan = await planOf(sleep, event.sessions);
        if (planDigest !== undefined) requireShown(await digestOfPlan(plan, sleep, limits), planDigest);
        if (event.sessions.length > 0) onEvent?.({ type: 'night-planned', plan });
      },
    },
  );
}

/** A handoff is resumed many times, and calls no model. */
function refuseWithHandoff(limits: NightLimits, isDryRun: boolean): void {
  const useless = (['maxCalls', 'maxCostUsd'] as const).find((name) => limits[name] !== undefined);
  const refuse = (what: string, hint: string) => new SkillError('USAGE', what, { hint });
  if (isDryRun) throw refuse('a dry run keeps nothing, and a handoff must keep its answers', 'Use sleep run.');
  if (useless) throw refuse(`a handoff calls no model that ${useless} could limit`, 'Leave the limit out.');
}

type NightModels = Readonly<Record<'target' | 'optimizer' | 'judge', ChatModel>>;

export type OpenedModels = {
  readonly models: NightModels;
  /** The agent that does the tasks with tools, if the target is one. */
  readonly work: FoundWork | undefined;
  readonly agent: string;
};

type OpenModelsOptions = { readonly consent?: NightConsent | undefined; readonly models?: NightModels | undefined };

/** Opens the models that the settings name, and requires consent to everyone who would read something. */
export async function openModels(sleep: OpenSleep, options: OpenModelsOptions): Promise<OpenedModels> {
  const { consent, models: given } = options;
  const plan = await planOf(sleep, []);
  // With the user's own variables: `homes` says where sessions are, and sign-ins may be elsewhere.
  const { project, settings, callerEnv: env, notices } = sleep;
  const isSpecOwn = (role: keyof NightModels) => !rolesOfProject(sleep).has(role);
  const where = { env, directory: project, notices, isAddressOwn: true };
  const resolve = (role: keyof NightModels) =>
    given ? given[role] : resolveModel(plan.models[role], { role, ...where, isSpecOwn: isSpecOwn(role) });
  const [target, optimizer, judge] = [await resolve('target'), await resolve('optimizer'), await resolve('judge')];
  const agent = agentTargetOf(plan.models);
  const work = agent && (await findWork(agent, { env, project, settings, notices, isSpecOwn: isSpecOwn('target') }));
  if (work) requireRoom(work, settings.maxTokensPerNight);
  await requireConsent(sleep, plan.recipients, consent);
  return { models: { target, optimizer, judge }, work, agent: agentOf(plan, sleep) };
}

/** The agent that attempts the tasks; if there is none, the one whose sessions are learned from. */
function agentOf({ models }: NightPlan, { sources }: OpenSleep): string {
  const target = agentTargetOf(models);
  if (target !== undefined) return agentPrograms[target.agent].cli;
  const spec = typeof models.target === 'string' ? models.target : String(models.target.provider);
  const [provider = ''] = spec.split(':');
  return /-cli$/.test(provider) ? provider : (sources[0]?.name ?? 'claude');
}

/**
 * Returns once the user has agreed to all recipients, and remembers new answers. The command asks about each on a terminal (a no
 * ends it with exit code 1), and throws `CONSENT_MISSING` without one. `providers` are agreed to already.
 */
export async function requireConsent(sleep: OpenSleep, recipients: readonly Recipient[], consent: NightConsent = {}) {
  const { folder, notices } = sleep;
  const { providers = [], ask } = consent;
  const missing = withoutConsent(recipients, await readSleepState(folder));
  if (missing.length === 0) return;
  const asked = missing.filter(({ provider }) => !providers.includes(provider));
  if (asked.length > 0 && ask === undefined) throw consentMissing(asked);
  if (asked.length > 0) await ask!(asked);
  await using open = await openSleepState(folder, { onWarning: notices.warn });
  const at = new Date().toISOString();
  const named = missing.filter((recipient) => !asked.includes(recipient));
  await open.update((state) => withConsent(withConsent(state, named, 'flag', at), asked, 'terminal', at));
}

/** The path of an existing skill by its name, or by a path relative to `directory`. */
export async function skillPathOf(skill: string, sleep: OpenSleep, directory: string): Promise<string> {
  const { place, project, settings } = sleep;
  const search = { agent: agentOf(await planOf(sleep, []), sleep), place, project, settings };
  return (await skillNamed(skill, search, directory)).live.path;
}
