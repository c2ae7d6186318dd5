import {
  COMPARISON_TITLES,
  dataSection,
  HEADINGS,
  type PairCategory,
  type PromptName,
} from '../../core/contracts/index.ts';
import type { Pair } from '../../core/run/index.ts';
import { clipTrajectories } from '../reflect/clip-trajectories.ts';
import { trajectoryRoom } from '../reflect/trajectory-room.ts';
import type { StageDeps } from '../stage-deps.ts';

const ORDER: readonly PairCategory[] = ['regressed', 'persistent_fail', 'improved', 'stable_success'];

type Comparison = {
  readonly pairs: readonly Pair[];
  readonly prompt: PromptName;
  /** What the question says before it. */
  readonly head: string;
};

type Told = { readonly user: string; readonly clipped: { readonly nClippedTrajectories?: number } };

/**
 * `head`, then a comparison of two epochs as the optimizer reads it: counts, then what got worse first. Fenced as data,
 * and cut to what the context has room for. With how many trajectories were cut, if any.
 */
export async function withComparison({ pairs, prompt, head }: Comparison, deps: StageDeps): Promise<Told> {
  const counts = ORDER.map((category) => `${category} ${count(pairs, category)}`).join(', ');
  const shown = pairs.filter(({ category }) => category !== 'stable_success');
  const results = shown.flatMap(({ previous, current }) => [previous, current]);
  const { texts, clippedCount } = await clipTrajectories(results, await trajectoryRoom({ prompt, head }, deps), deps);
  const textOf = new Map(shown.map((pair, index) => [pair.id, [texts[2 * index]!, texts[2 * index + 1]!]]));
  const groups = ORDER.map((category) => renderGroup(category, pairs, textOf)).filter((text) => text !== '');
  const text = [counts, ...groups].join('\n\n');
  return {
    user: `${head}\n\n${dataSection(HEADINGS.comparison, 'comparison', text, `${pairs.length} tasks`)}`,
    clipped: clippedCount > 0 ? { nClippedTrajectories: clippedCount } : {},
  };
}

const count = (pairs: readonly Pair[], category: PairCategory) =>
  pairs.filter((pair) => pair.category === category).length;

function renderGroup(category: PairCategory, pairs: readonly Pair[], textOf: ReadonlyMap<string, string[]>): string {
  const members = pairs.filter((pair) => pair.category === category);
  if (members.length === 0) return '';
  if (category === 'stable_success')
    return `### ${COMPARISON_TITLES[category]}\n${members.map(({ id }) => id).join(', ')}`;
  const lines = members.map(({ id }) => {
    const [before, after] = textOf.get(id) ?? [];
    return `task ${id}, before:\n${before}\ntask ${id}, now:\n${after}`;
  });
  return `### ${COMPARISON_TITLES[category]}\n${lines.join('\n\n')}`;
}
