import type { ReflectContext } from '../../core/contracts/index.ts';
import type { RawPatch } from '../../core/document/index.ts';
import type { TaskRecord } from '../task-record.ts';
import { contrastiveReflect, informative } from './contrastive-reflect.ts';
import { originalId } from './multi-rollout.ts';
import { type AttemptMetric, RolloutSet } from './rollout-set.ts';

/** Learns from the contrast between several attempts at the same tasks, where there is one; else from single failures. */
export async function reflectOnContrast(
  context: ReflectContext,
  tasks: readonly TaskRecord[],
  surroundings: string,
  metric?: AttemptMetric,
): Promise<RawPatch[]> {
  const sets = informative(setsOf(context, tasks, metric));
  if (sets.length === 0) return context.reflectByDefault();
  const { optimizer, editBudget, sampleIndex, skill, signal } = context;
  const known = { document: skill, surroundings };
  const rules = await contrastiveReflect(optimizer, sets, { editBudget, sampleIndex, ...known, signal });
  if (rules.length === 0) return context.reflectByDefault();
  const edits = rules.map(({ content }) => ({
    op: 'append' as const,
    target: '',
    content: `- ${content.replace(/^[-*]\s+/, '')}`,
    supportCount: sets.length,
    sourceType: 'failure' as const,
  }));
  const reasoning = rules.map(({ rationale }) => rationale).join(' ');
  return [{ patch: { edits, reasoning }, sourceType: 'failure', batchSize: sets.length }];
}

function setsOf({ results }: ReflectContext, tasks: readonly TaskRecord[], metric?: AttemptMetric): RolloutSet[] {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const attempts = new Map<string, RolloutSet['attempts'][number][]>();
  for (const { id, hard, soft, errored, predictedAnswer = '', failReason = '' } of results) {
    if (errored) continue;
    const key = originalId(id);
    attempts.set(key, [...(attempts.get(key) ?? []), { hard, soft, response: predictedAnswer, failReason }]);
  }
  return [...attempts].flatMap(([id, made]) =>
    made.length > 1 && byId.has(id) ? [new RolloutSet(byId.get(id)!, made, metric)] : [],
  );
}
