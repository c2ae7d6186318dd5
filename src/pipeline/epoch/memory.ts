import { z } from 'zod';
import {
  COMPARISON_TITLES,
  chunk,
  dataSection,
  guidanceSection,
  HEADINGS,
  type Item,
  type PairCategory,
  type PairPolicy,
  type PromptName,
  previousSkillSection,
  type RolloutResult,
  type SkillEnv,
  STEP_LINES,
  skillSection,
} from '../../core/contracts/index.ts';
import { readBlock, writeBlock } from '../../core/document/index.ts';
import { groupFaults, type Pair, type StepBufferEntry, type TriedEdit } from '../../core/run/index.ts';
import { head as headOf, skillHash } from '../../core/text/index.ts';
import { askInSlot } from '../ask/ask.ts';
import { clipTrajectories, isFailure, trajectoryRoom } from '../reflect/trajectory.ts';
import { runRollout } from '../rollout/rollout.ts';
import { type StageDeps, settleAll } from '../stage-deps.ts';

/** What prompts repeat: this epoch's steps, and the optimizer's notes from earlier epochs. */
export type Memory = { readonly stepBuffer: readonly StepBufferEntry[]; readonly metaSkill: string };

export const noMemory: Memory = { stepBuffer: [], metaSkill: '' };

export function stepSections({ stepBuffer }: Memory): string[] {
  const steps = [...stepBuffer.map(renderStep), ...renderFaults(stepBuffer)];
  return steps.length === 0 ? [] : [dataSection(HEADINGS.steps, 'steps', steps.join('\n\n'))];
}

export function metaSections({ metaSkill }: Memory): string[] {
  return metaSkill === '' ? [] : [dataSection(HEADINGS.metaSkill, 'notes', metaSkill)];
}

function renderStep(entry: StepBufferEntry): string {
  const { step, action, nTotal, nFail, failurePatterns, rejectedEdits = [], invalidEdits = [] } = entry;
  const outcome = entry.undecided ? 'UNDECIDED' : action.toUpperCase();
  return [
    STEP_LINES.start(step, `${outcome}, ${nFail} of ${nTotal} tasks failed`),
    ...failurePatterns.map(renderPattern),
    ...(entry.invalid === undefined ? [] : [`not measured, since it would be no valid skill: ${entry.invalid}`]),
    ...(invalidEdits.length > 0 ? ['made by:'] : []),
    ...invalidEdits.map((edit, index) => STEP_LINES.rejectedEdit(index + 1, renderEdit(shortened(edit)))),
    ...(rejectedEdits.length > 0 ? [`${whatCame(entry)}:`] : []),
    ...rejectedEdits.map((edit, index) => STEP_LINES.rejectedEdit(index + 1, renderEdit(edit))),
  ].join('\n');
}

function renderFaults(buffer: readonly StepBufferEntry[]): string[] {
  const faults = buffer.flatMap(({ step, invalid: reason }) => (reason === undefined ? [] : [{ step, reason }]));
  return groupFaults(faults)
    .filter(({ steps }) => steps.length > 1)
    .map(
      ({ steps, reason }) => `steps ${steps.join(', ')} had the same fault: ${reason}. With it nothing is measured.`,
    );
}

/** Longer contents would drown the rest. */
const MOST_SHOWN = 400;

function shortened(edit: TriedEdit): TriedEdit {
  const { content } = edit;
  if (content.length <= MOST_SHOWN) return edit;
  return { ...edit, content: `${headOf(content, MOST_SHOWN)}… (${content.length} characters)` };
}

/** Edits that lost after a part of the tasks are not shown to be wrong, and may come back. */
function whatCame(entry: StepBufferEntry): string {
  const { undecided } = entry;
  if (!undecided) return `rejected, ${change(entry)}`;
  return `undecided after ${undecided.met} of ${undecided.total} tasks (may be proposed again, better put or alone)`;
}

const change = ({ scoreBefore = 0, scoreAfter = 0 }: StepBufferEntry) =>
  `score ${scoreBefore.toFixed(4)} before, ${scoreAfter.toFixed(4)} with these`;

function renderPattern({ type, count, taskIds, description = '' }: StepBufferEntry['failurePatterns'][number]): string {
  return `${STEP_LINES.failurePattern(type, count)}${description && `: ${description}`} (${taskIds.join(', ')})`;
}

function renderEdit({ op, target, content, file }: TriedEdit): string {
  const text = op === 'rewrite' ? '' : content; // a whole document would drown the rest
  return JSON.stringify({
    op,
    ...(file ? { file } : {}),
    ...(target === '' ? {} : { target }),
    ...(text === '' ? {} : { content: text }),
  });
}

type CompareInput = {
  readonly env: SkillEnv;
  readonly previousSkill: string;
  readonly currentSkill: string;
  /** Training tasks in a shuffled order: the first `samples` are compared, further ones fill up. */
  readonly items: readonly Item[];
  readonly samples: number;
  readonly policy: PairPolicy;
};

/** The same tasks under the skills of the last epoch and of this one, both at the same time. */
export async function compareEpochs(input: CompareInput, deps: StageDeps): Promise<Pair[]> {
  const { items, samples, policy } = input;
  const sampled = await pairUp(items.slice(0, samples), input, deps);
  const chosen = sampled.filter(({ category }) => isWanted(category, policy));
  return policy === 'changed' ? topUp(chosen, input, deps) : chosen;
}

const CHANGED: readonly PairCategory[] = ['improved', 'regressed'];

function isWanted(category: PairCategory, policy: PairPolicy): boolean {
  return policy === 'mixed' || CHANGED.includes(category) === (policy === 'changed');
}

/** Compares further tasks until there are enough, or none is left. */
async function topUp(chosen: readonly Pair[], input: CompareInput, deps: StageDeps): Promise<Pair[]> {
  const pairs = [...chosen];
  for (const more of chunk(input.items.slice(input.samples), Math.max(1, input.samples))) {
    if (pairs.length >= input.samples) break;
    const further = await pairUp(more, input, deps);
    pairs.push(...further.filter(({ category }) => isWanted(category, input.policy)));
  }
  return pairs.slice(0, input.samples);
}

async function pairUp(items: readonly Item[], input: CompareInput, deps: StageDeps): Promise<Pair[]> {
  const { env, previousSkill, currentSkill } = input;
  const skills = [...new Set([previousSkill, currentSkill])]; // an epoch without a change has one side
  const rollouts = skills.map((skill) => runRollout({ env, skill, items, phase: 'train' }, deps));
  const [before, after = before] = await settleAll(rollouts);
  return items.flatMap(({ id }, index) => {
    const [previous, current] = [before![index]!, after![index]!];
    if (previous.errored || current.errored) return []; // an outage on one side says nothing about the skills
    return [{ id, category: categoryOf(previous, current), previous, current }];
  });
}

function categoryOf(previous: RolloutResult, current: RolloutResult): PairCategory {
  if (isFailure(previous)) return isFailure(current) ? 'persistent_fail' : 'improved';
  return isFailure(current) ? 'regressed' : 'stable_success';
}

type SlowUpdateInput = { readonly previousSkill: string; readonly skill: string; readonly pairs: readonly Pair[] };

const GuidanceReply = z.object({ reasoning: z.string().nullish(), slowUpdateContent: z.string().nullish() });

/** Guidance from what changed over an epoch, written into the block that steps cannot touch. */
export async function writeGuidance({ previousSkill, skill, pairs }: SlowUpdateInput, deps: StageDeps) {
  const known = [skillSection(skill), previousSkillSection(previousSkill)];
  const head = [...known, guidanceSection(readBlock(skill, 'slowUpdate'))].join('\n\n');
  const { user, clipped } = await withComparison({ pairs, prompt: 'slow_update', head }, deps);
  const question = { prompt: 'slow_update', stage: 'slow_update', user, schema: GuidanceReply } as const;
  const reply = await askInSlot(question, deps);
  const content = (reply?.slowUpdateContent ?? '').trim();
  // No answer does not mean that there is nothing to say: the guidance stays.
  const candidateSkill = content === '' ? skill : writeBlock(skill, 'slowUpdate', content);
  const candidateHash = skillHash(candidateSkill);
  return { content, reasoning: reply?.reasoning ?? '', candidateSkill, candidateHash, ...clipped };
}

const MetaSkillReply = z.object({ reasoning: z.string().nullish(), metaSkillContent: z.string().nullish() });

/** The optimizer's notes to itself on which kinds of edits helped. They never reach the skill. */
export async function writeMetaSkill(input: SlowUpdateInput & { readonly memory: Memory }, deps: StageDeps) {
  const { previousSkill, skill, pairs, memory } = input;
  const known = [skillSection(skill), previousSkillSection(previousSkill)];
  const head = [...known, ...metaSections(memory), ...stepSections(memory)].join('\n\n');
  const { user, clipped } = await withComparison({ pairs, prompt: 'meta_skill', head }, deps);
  const question = { prompt: 'meta_skill', stage: 'meta_skill', user, schema: MetaSkillReply } as const;
  const reply = await askInSlot(question, deps);
  return { content: (reply?.metaSkillContent ?? '').trim(), reasoning: reply?.reasoning ?? '', ...clipped };
}

const ORDER: readonly PairCategory[] = ['regressed', 'persistent_fail', 'improved', 'stable_success'];

type Comparison = { readonly pairs: readonly Pair[]; readonly prompt: PromptName; readonly head: string };

/** `head`, then a comparison of two epochs: counts, then what got worse first. Fenced, and cut to the room in the context. */
async function withComparison({ pairs, prompt, head }: Comparison, deps: StageDeps) {
  const membersOf = (category: PairCategory) => pairs.filter((pair) => pair.category === category);
  const counts = ORDER.map((category) => `${category} ${membersOf(category).length}`).join(', ');
  const shown = pairs.filter(({ category }) => category !== 'stable_success');
  const results = shown.flatMap(({ previous, current }) => [previous, current]);
  const { texts, clippedCount } = await clipTrajectories(results, await trajectoryRoom({ prompt, head }, deps), deps);
  const textOf = new Map(shown.map((pair, index) => [pair.id, [texts[2 * index]!, texts[2 * index + 1]!]]));
  const groups = ORDER.map((category) => renderGroup(category, membersOf(category), textOf));
  const text = [counts, ...groups.filter((group) => group !== '')].join('\n\n');
  return {
    user: `${head}\n\n${dataSection(HEADINGS.comparison, 'comparison', text, `${pairs.length} tasks`)}`,
    clipped: clippedCount > 0 ? { nClippedTrajectories: clippedCount } : {},
  };
}

function renderGroup(category: PairCategory, members: readonly Pair[], textOf: ReadonlyMap<string, string[]>): string {
  if (members.length === 0) return '';
  const title = `### ${COMPARISON_TITLES[category]}\n`;
  if (category === 'stable_success') return title + members.map(({ id }) => id).join(', ');
  const lines = members.map(({ id }) => {
    const [before, after] = textOf.get(id) ?? [];
    return `task ${id}, before:\n${before}\ntask ${id}, now:\n${after}`;
  });
  return title + lines.join('\n\n');
}
