import { z } from 'zod';
import { applyPatch, findRegions, SourceType, type UpdateMode } from '../../core/document/index.ts';
import { readRules } from '../world/read-rules.ts';
import { type Change, sayingOf, topicOf } from './change.ts';
import type { OptimizerPrompt } from './read-prompt.ts';
import { toSuggestion } from './suggestion.ts';
import { byWeight, readEdit, readJson } from './wire-edit.ts';

/** A whole skill in a new wording, as prompts and replies spell it. */
const WholeVersion = z.object({
  title: z.string().catch(''),
  new_skill: z.string(),
  support_count: z.number().int().positive().catch(1),
  source_type: SourceType.catch('failure'),
});
type WholeVersion = z.infer<typeof WholeVersion>;

/** The body of the skill with these changes in it. */
function writeVersion(skill: string, changes: readonly Change[]) {
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

/** A skill without its frontmatter and its marked blocks: what a step may change. */
function skillBody(skill: string): string {
  const regions = findRegions(skill).reverse();
  return regions.reduce((text, { start, end }) => text.slice(0, start) + text.slice(end), skill).trim();
}

type Supported = Change & { readonly support_count?: number };

/** Changes as an analyst of each update mode gives them. */
export function inMode(mode: UpdateMode, skill: string, changes: readonly Supported[]): object {
  if (mode === 'patch') return { edits: changes };
  if (mode === 'rewrite_from_suggestions') {
    const inWords = ({ support_count, ...change }: Supported) => ({ ...toSuggestion(change), support_count });
    return { revise_suggestions: changes.map(inWords) };
  }
  if (changes.length === 0) return { skill_candidates: [] };
  const support_count = Math.max(...changes.map((change) => change.support_count ?? 1));
  return { skill_candidates: [{ ...writeVersion(skill, changes), support_count }] };
}

/** The reply of the writer: the body of the skill with every suggestion carried out that it understands. */
export function carryOutSuggestions({ skill, edits }: OptimizerPrompt): object {
  const suggestions = readJson(edits);
  const changes = Array.isArray(suggestions) ? suggestions.flatMap(readEdit) : [];
  return { change_summary: changes.map(sayingOf), new_skill: writeVersion(skill, changes).new_skill };
}
