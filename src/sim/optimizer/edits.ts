import { z } from 'zod';
import { applyPatch, EditOp, findRegions, SourceType, type UpdateMode } from '../../core/document/index.ts';
import { groupBy, parseJson } from '../../core/text/index.ts';
import { readRules } from '../world/world.ts';
import type { OptimizerPrompt } from './read-prompt.ts';

export const Change = z.object({ op: EditOp, target: z.string().catch(''), content: z.string().catch('') });
export type Change = z.infer<typeof Change>;

export const append = (sentence: string): Change => ({ op: 'append', target: '', content: `- ${sentence}` });

/** What a change says, wherever it says it; or what it takes away. */
export function sayingOf({ op, target, content }: Change): string {
  const bare = (text: string) => text.replace(/^\s*-\s+/, '').trim();
  return op === 'delete' ? `without: ${bare(target)}` : bare(content);
}

/** The topic of a change that states a rule; `undefined` for a remark. */
export function topicOf({ op, target, content }: Change): string | undefined {
  return [...readRules(op === 'delete' ? target : content).keys()][0];
}

function toSuggestion(change: Change) {
  const { op, target, content } = change;
  const title = topicOf(change) ?? 'advice';
  if (op === 'delete') return { type: 'remove', title, instruction: `Take out «${target}».` };
  if (op === 'replace') return { type: 'change', title, instruction: `Put «${content}» in the place of «${target}».` };
  return { type: 'add', title, instruction: `Add «${content}» at the end.` };
}

const Instruction = z.object({ instruction: z.string() });

/** `undefined` for a suggestion in words that the simulated writer does not know. */
function readSuggestion(value: unknown): Change | undefined {
  const { instruction = '' } = Instruction.safeParse(value).data ?? {};
  const added = instruction.match(/^Add «([^»]*)» at the end\.$/);
  if (added) return { op: 'append', target: '', content: added[1]! };
  const changed = instruction.match(/^Put «([^»]*)» in the place of «([^»]*)»\.$/);
  if (changed) return { op: 'replace', target: changed[2]!, content: changed[1]! };
  const removed = instruction.match(/^Take out «([^»]*)»\.$/);
  return removed ? { op: 'delete', target: removed[1]!, content: '' } : undefined;
}

const Provenance = z.object({
  support_count: z.number().int().positive().catch(1),
  source_type: SourceType.catch('failure'),
});
type Provenance = z.infer<typeof Provenance>;

const WireEdit = Change.extend(Provenance.shape);
export type WireEdit = z.infer<typeof WireEdit>;

const list = z.array(z.unknown()).optional();
const WirePatch = z.object({ edits: list, revise_suggestions: list, skill_candidates: list });

const readEdits = (block: string) =>
  patchesIn(block).flatMap(({ edits = [], revise_suggestions: suggestions = [] }) =>
    [...edits, ...suggestions].flatMap(readEdit),
  );

function patchesIn(block: string): z.infer<typeof WirePatch>[] {
  const json = parseJson(block);
  return (Array.isArray(json) ? json : [json]).flatMap((patch) => WirePatch.safeParse(patch).data ?? []);
}

/** A suggestion counts as the edit that it asks for. */
export function readEdit(value: unknown): WireEdit[] {
  const edit = WireEdit.safeParse(value);
  if (edit.success) return [edit.data];
  const change = readSuggestion(value);
  return change ? [WireEdit.parse({ ...(value as object), ...change })] : [];
}

export const editKey = ({ op, target, content }: Change): string => JSON.stringify([op, target, content.trim()]);

export function byWeight(a: Provenance, b: Provenance): number {
  const rank = ({ source_type }: Provenance) => (source_type === 'failure' ? 0 : 1);
  return rank(a) - rank(b) || b.support_count - a.support_count;
}

const WholeVersion = Provenance.extend({ new_skill: z.string() });

function writeVersion(skill: string, changes: readonly Change[]) {
  const topics = [...new Set(changes.map((change) => topicOf(change) ?? 'advice'))];
  return {
    title: `on ${topics.join(', ')}`,
    change_summary: changes.map(sayingOf),
    new_skill: skillBody(applyPatch(skill, { edits: changes })),
  };
}

/** A merge of whole versions: what any of them changed; the weightier one where two rule on one topic. */
function mergeVersions(skill: string, patchBlocks: readonly string[]) {
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

const readVersions = (block: string) =>
  patchesIn(block).flatMap(({ skill_candidates: candidates = [] }) =>
    candidates.flatMap((candidate) => WholeVersion.safeParse(candidate).data ?? []),
  );

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

/** What a step may change: no frontmatter, no marked blocks. */
function skillBody(skill: string): string {
  const regions = findRegions(skill).reverse();
  return regions.reduce((text, { start, end }) => text.slice(0, start) + text.slice(end), skill).trim();
}

type Supported = Change & { readonly support_count?: number };

/** Changes in the form of each update mode. */
export function inMode(mode: UpdateMode, skill: string, changes: readonly Supported[]): object {
  if (mode === 'patch') return { edits: changes };
  if (mode === 'rewrite_from_suggestions') {
    const inWords = ({ op, target, content, ...rest }: Supported) => ({
      ...toSuggestion({ op, target, content }),
      ...rest,
    });
    return { revise_suggestions: changes.map(inWords) };
  }
  if (changes.length === 0) return { skill_candidates: [] };
  const support_count = Math.max(...changes.map((change) => change.support_count ?? 1));
  return { skill_candidates: [{ ...writeVersion(skill, changes), support_count }] };
}

/** The reply of the rewriter: the body with every suggestion that it understands. */
export function carryOutSuggestions({ skill, edits }: OptimizerPrompt): object {
  const suggestions = parseJson(edits);
  const changes = Array.isArray(suggestions) ? suggestions.flatMap(readEdit) : [];
  return { change_summary: changes.map(sayingOf), new_skill: writeVersion(skill, changes).new_skill };
}

/** A merge: equal edits become one with their supports added up, failures first, then by support. */
export function mergeEdits({ mode, skill, patches }: OptimizerPrompt): object {
  if (mode === 'full_rewrite_minibatch') return mergeVersions(skill, patches);
  const edits = patches.flatMap(readEdits);
  const merged = groupBy(edits, editKey).map(mergeGroup).sort(byWeight);
  const reasoning = `${edits.length} edits say ${merged.length} different things.`;
  return { reasoning, ...inMode(mode, skill, merged) };
}

function mergeGroup(group: readonly WireEdit[]): WireEdit {
  return {
    ...group[0]!,
    support_count: group.reduce((sum, edit) => sum + edit.support_count, 0),
    source_type: group.some((edit) => edit.source_type === 'failure') ? 'failure' : 'success',
  };
}
