import { SkillError } from '../../core/contracts/index.ts';
import type { RunObserver } from '../../core/run/index.ts';
import {
  findMemory,
  findSkill,
  isHandoff,
  nightScorers,
  nightWork,
  type OpenSleep,
  openSleepState,
  type Proof,
  type Reviewable,
  readSleepState,
  recordProposal,
  regate,
  regateCost,
  resolveSkill,
  settleText,
  stageAgain,
} from '../../sleep/index.ts';
import { requireAsItWas } from './proposals.ts';
import { definedOnly, type NightConsent, type NightLimits, type OpenedModels, openModels } from './run-night.ts';

export type ReviewOptions = {
  readonly limits?: NightLimits | undefined;
  readonly consent?: NightConsent | undefined;
  /** Models that are open already. Default: those that the settings name, with `consent`. */
  readonly opened?: OpenedModels | undefined;
  readonly observers?: readonly RunObserver[] | undefined;
  readonly signal?: AbortSignal | undefined;
};

/** How many held-out tasks a review is measured on, and how many model calls that takes. */
export function reviewCost({ settings: { target } }: OpenSleep, review: Reviewable) {
  if (target !== undefined && isHandoff(target)) throw handedOver();
  return regateCost(review, nightScorers());
}

/** Measures what a person kept of a proposal. If that is proven, it takes the place of the proposal. */
export async function measureReview(
  sleep: OpenSleep,
  review: Reviewable,
  block: string,
  options: ReviewOptions = {},
): Promise<Proof> {
  const { folder } = sleep;
  const { proposal } = review;
  const proof = await measure(sleep, review, block, options);
  const at = new Date().toISOString();
  await using open = await openSleepState(folder);
  const row = { project: proposal.project, night: proposal.night, at, accepted: proof.isProven, nTasks: 0 };
  await open.update((state) => ({
    ...state,
    history: [...state.history, { ...row, isTested: true, gateAction: 'review' }],
  }));
  requireAsItWas(open.state, proposal);
  if (!proof.isProven) return proof;
  const proven = await stageAgain(review, { folder, block, proof, at });
  await open.update((state) => recordProposal(state, proven));
  await settleText(folder, proven);
  return proof;
}

const handedOver = () =>
  new SkillError('USAGE', 'a review measures at once, and a handoff answers over several rounds', {
    hint: 'Name a model as the target, or adopt the proposal as it is.',
  });

async function measure(sleep: OpenSleep, review: Reviewable, block: string, options: ReviewOptions): Promise<Proof> {
  const { folder, settings, place } = sleep;
  const { models, work } = options.opened ?? (await openModels(sleep, options));
  const { agent, project } = review.record;
  const search = { agent, place, project, settings };
  const live = [await findSkill(search), await findMemory(search)] as const;
  const opened = await work?.open(review.record.work?.commit || undefined);
  const { limits = {}, observers, signal } = options;
  return regate(review, {
    ...{ folder, settings, models, observers, signal, block, state: await readSleepState(folder) },
    config: { ...definedOnly(limits), ...(work ? { rolloutTimeoutMs: work.longestMs } : {}) },
    scorers: nightScorers(work),
    documents: { skill: live[0].text, memory: live[1].text },
    work: opened && nightWork(opened, { documents: live, folder: project }),
    readSkill: async (name) => {
      const found = await resolveSkill(name, search);
      return found.status === 'found' ? found.document.text : undefined;
    },
  });
}
