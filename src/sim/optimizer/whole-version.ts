import { z } from 'zod';
import { applyPatch } from '../../core/skill/apply-edit.ts';
import { SourceType } from '../../core/skill/edit.ts';
import { readRules } from '../world/read-rules.ts';
import { skillBody } from '../world/skill-body.ts';
import { type Change, sayingOf, topicOf } from './change.ts';
import { readJson } from './wire-edit.ts';

/** A skill written anew, as prompts and replies spell it. */
const WholeVersion = z.object({
  title: z.string().catch(''),
  new_skill: z.string(),
  support_count: z.number().int().positive().catch(1),
  source_type: SourceType.catch('failure'),
});
type WholeVersion = z.infer<typeof WholeVersion>;

/** The body of the skill with these changes in it. */
export function writeVersion(skill: string, changes: readonly Change[]) {
  const topics = [...new Set(changes.map((change) => topicOf(change) ?? 'advice'))];
  return {
    title: `on ${topics.join(', ')}`,
    change_summary: changes.map(sayingOf),
    new_skill: skillBody(applyPatch(skill, { edits: changes })),
  };
}

/** The reply to a merge of whole versions: what any of them changed, the weightier one where two rule on one topic. */
export function mergeVersions(skill: string, patchBlocks: readonly string[]) {
  const versions = patchBlocks.flatMap(readVersions).sort(byWeight);
  const current = skillBody(skill);
  const left = versions.flatMap(({ new_skill }) => linesBeyond(current, new_skill));
  const kept = current.split('\n').filter((line) => line.trim() === '' || !left.includes(line));
  const added = withoutContradictions(versions.flatMap(({ new_skill }) => linesBeyond(new_skill, current)));
  const merged = { title: 'merged', change_summary: added, new_skill: [...kept, ...added].join('\n').trim() };
  const support = versions.reduce((sum, version) => sum + version.support_count, 0);
  const provenance = { support_count: Math.max(1, support), source_type: versions[0]?.source_type ?? 'failure' };
  const candidates = versions.length === 0 ? [] : [{ ...merged, ...provenance }];
  return { reasoning: `${versions.length} versions became one.`, skill_candidates: candidates };
}

const WirePatch = z.object({ skill_candidates: z.array(z.unknown()) });

function readVersions(block: string): WholeVersion[] {
  const json = readJson(block);
  return (Array.isArray(json) ? json : [json]).flatMap((patch) => {
    const candidates = WirePatch.safeParse(patch).data?.skill_candidates ?? [];
    return candidates.flatMap((candidate) => WholeVersion.safeParse(candidate).data ?? []);
  });
}

function byWeight(a: WholeVersion, b: WholeVersion): number {
  const rank = ({ source_type }: WholeVersion) => (source_type === 'failure' ? 0 : 1);
  return rank(a) - rank(b) || b.support_count - a.support_count;
}

/** The lines of a text that another has not. */
export function linesBeyond(text: string, other: string): string[] {
  const known = new Set(other.split('\n'));
  return text.split('\n').filter((line) => line.trim() !== '' && !known.has(line));
}

/** Each line once, and one rule to a topic: the first. */
function withoutContradictions(lines: readonly string[]): string[] {
  const ruled = new Set<string>();
  return [...new Set(lines)].filter((line) => {
    const topics = [...readRules(line).keys()];
    const isNew = topics.every((topic) => !ruled.has(topic));
    for (const topic of topics) ruled.add(topic);
    return isNew;
  });
}
