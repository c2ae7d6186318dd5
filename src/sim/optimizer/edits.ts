import { z } from 'zod';
import { applyPatch, EditOp, findRegions, SourceType, type UpdateMode } from '../../core/document/index.ts';
import { groupBy } from '../../core/text/index.ts';
import { readRules } from '../world/world.ts';
import type { OptimizerPrompt } from './read-prompt.ts';

/** One thing to do to a skill. */
export const Change = z.object({ op: EditOp, target: z.string().catch(''), content: z.string().catch('') });
export type Change = z.infer<typeof Change>;

export const append = (sentence: string): Change => ({ op: 'append', target: '', content: `- ${sentence}` });

/** What a change says, whatever place it says it in; what it takes away when it says nothing. */
export function sayingOf({ op, target, content }: Change): string {
  const bare = (text: string) => text.replace(/^\s*-\s+/, '').trim();
  return op === 'delete' ? `without: ${bare(target)}` : bare(content);
}

/** The topic that a change states a rule on; `undefined` for a remark. */
export function topicOf({ op, target, content }: Change): string | undefined {
  return [...readRules(op === 'delete' ? target : content).keys()][0];
}

/** What a rewriter is asked for: one change in words. */
type Suggestion = { readonly type: string; readonly title: string; readonly instruction: string };

function toSuggestion(change: Change): Suggestion {
  const { op, target, content } = change;
  const title = topicOf(change) ?? 'advice';
  if (op === 'delete') return { type: 'remove', title, instruction: `Take out «${target}».` };
  if (op === 'replace') return { type: 'change', title, instruction: `Put «${content}» in the place of «${target}».` };
  return { type: 'add', title, instruction: `Add «${content}» at the end.` };
}

const Instruction = z.object({ instruction: z.string() });

/** The change that a suggestion asks for; `undefined` when it is in words that the simulated writer does not know. */
function readSuggestion(value: unknown): Change | undefined {
  const { instruction = '' } = Instruction.safeParse(value).data ?? {};
  const added = instruction.match(/^Add «([^»]*)» at the end\.$/);
  if (added) return { op: 'append', target: '', content: added[1]! };
  const changed = instruction.match(/^Put «([^»]*)» in the place of «([^»]*)»\.$/);
  if (changed) return { op: 'replace', target: changed[2]!, content: changed[1]! };
  const removed = instruction.match(/^Take out «([^»]*)»\.$/);
  return removed ? { op: 'delete', target: removed[1]!, content: '' } : undefined;
}

/** An edit as prompts and replies spell it. */
export const WireEdit = Change.extend({
  support_count: z.number().int().positive().catch(1),
  source_type: SourceType.catch('failure'),
});
export type WireEdit = z.infer<typeof WireEdit>;

const WirePatch = z.object({
  edits: z.array(z.unknown()).optional(),
  revise_suggestions: z.array(z.unknown()).optional(),
});

/** The well-formed edits of a patch, suggestions among them; anything else is no edit. */
function readEdits(patch: unknown): WireEdit[] {
  const { edits = [], revise_suggestions: suggestions = [] } = WirePatch.safeParse(patch).data ?? {};
  return [...edits, ...suggestions].flatMap(readEdit);
}

/** A suggestion counts as the edit that it asks for. */
export function readEdit(value: unknown): WireEdit[] {
  const edit = WireEdit.safeParse(value);
  if (edit.success) return [edit.data];
  const change = readSuggestion(value);
  return change ? [WireEdit.parse({ ...(value as object), ...change })] : [];
}

/** `undefined` for a text that is not JSON. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Edits with equal keys do the same. */
export function editKey({ op, target, content }: Change): string {
  return JSON.stringify([op, target, content.trim()]);
}

/** What failed comes before what went well, and what many ask for before what few do. */
export function byWeight(a: Weighted, b: Weighted): number {
  const rank = ({ source_type }: Weighted) => (source_type === 'failure' ? 0 : 1);
  return rank(a) - rank(b) || b.support_count - a.support_count;
}

type Weighted = Pick<WireEdit, 'support_count' | 'source_type'>;

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

const WireCandidates = z.object({ skill_candidates: z.array(z.unknown()) });

function readVersions(block: string): WholeVersion[] {
  const json = readJson(block);
  return (Array.isArray(json) ? json : [json]).flatMap((patch) => {
    const candidates = WireCandidates.safeParse(patch).data?.skill_candidates ?? [];
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

/** The reply to a merge call: equal edits become one with their supports added up, failures first, then by support. */
export function mergeEdits({ mode, skill, patches }: OptimizerPrompt): object {
  if (mode === 'full_rewrite_minibatch') return mergeVersions(skill, patches);
  const edits = patches.flatMap(readPatches);
  const merged = groupBy(edits, editKey).map(mergeGroup).sort(byWeight);
  const reasoning = `${edits.length} edits say ${merged.length} different things.`;
  if (mode === 'patch') return { reasoning, edits: merged };
  return { reasoning, revise_suggestions: merged.map(inWords) };
}

function inWords({ support_count, source_type, ...change }: WireEdit) {
  return { ...toSuggestion(change), support_count, source_type };
}

function readPatches(block: string): WireEdit[] {
  const patches = readJson(block);
  return Array.isArray(patches) ? patches.flatMap(readEdits) : readEdits(patches);
}

function mergeGroup(group: readonly WireEdit[]): WireEdit {
  return {
    ...group[0]!,
    support_count: group.reduce((sum, edit) => sum + edit.support_count, 0),
    source_type: group.some((edit) => edit.source_type === 'failure') ? 'failure' : 'success',
  };
}
