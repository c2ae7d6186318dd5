import { head, rstrip, strip } from '../text/python-text.ts';
import { applyToPackage } from './apply-to-package.ts';
import type { Edit, EditOp, Patch } from './edit.ts';
import type { Applied, EditStatus, ReadEdit } from './edit-status.ts';
import { findNewHidden } from './hidden-text.ts';
import { SKILL_FILE } from './package-text.ts';
import { findRegions, hasMarker, protectedText, type Region } from './protected-regions.ts';
import type { EditPolicy } from './skill-parts.ts';

export type { EditStatus };

/** What became of one edit. `index` counts from 1; texts are cut at 200 code points. */
export type EditReport = {
  readonly index: number;
  readonly op: string;
  /** Of a package, where the edit names one. */
  readonly file?: string;
  readonly target: string;
  readonly contentPreview: string;
  readonly status: EditStatus;
  readonly error?: string;
};

/** The text after one edit. Total: an edit that does not fit leaves the text alone. */
export function applyEdit(skill: string, edit: Edit | unknown): string {
  return applyPatch(skill, { edits: [edit] });
}

/** The text after all edits of a patch, in order. */
export function applyPatch(skill: string, patch: Patch | unknown): string {
  return applyPatchWithReport(skill, patch).skill;
}

/**
 * The text after all edits, and one report row per edit. Takes unparsed edits too: a malformed one is a row, not a throw, and
 * what has no list of edits changes nothing. With a policy, edits change the files of a package, and what else it allows.
 */
export function applyPatchWithReport(
  skill: string,
  patch: Patch | unknown,
  policy?: EditPolicy,
): { skill: string; report: EditReport[] } {
  let text = skill;
  const { edits } = (patch ?? {}) as { readonly edits?: unknown };
  const report = (Array.isArray(edits) ? edits : []).map((edit: unknown, position): EditReport => {
    const index = position + 1;
    const fields = readFields(edit);
    if (typeof fields === 'string') {
      return { index, op: '', target: '', contentPreview: '', status: 'error', error: fields };
    }
    const applied = policy ? applyToPackage(text, fields, policy, applyGuarded) : applyAlone(text, fields);
    text = applied.skill;
    const { op, file, target, content } = fields;
    const place = { index, op, ...(file === '' ? {} : { file }) };
    return { ...place, target: head(target, 200), contentPreview: head(content, 200), status: applied.status };
  });
  return { skill: text, report };
}

/** The edit's fields ready to use, or a sentence about what is wrong with them. */
function readFields(edit: unknown): ReadEdit | string {
  if (typeof edit !== 'object' || edit === null || Array.isArray(edit))
    return `an edit must be an object, ${got(edit)}`;
  const { op = '', content = '', target = '', file = '' } = edit as Record<string, unknown>;
  const fields = { op, content, target, file };
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value !== 'string') return `${name} must be text, ${got(value)}`;
  }
  const written = content as string;
  return { ...(fields as Omit<ReadEdit, 'written'>), content: strip(written), written };
}

/** A document alone has no other files. */
const applyAlone = (skill: string, fields: ReadEdit): Applied =>
  fields.file === '' || fields.file === SKILL_FILE ? applyGuarded(skill, fields) : { skill, status: 'skipped_part' };

function got(value: unknown): string {
  try {
    return `got ${head(String(JSON.stringify(value)), 200)}`;
  } catch {
    return `got ${typeof value}`; // a cycle, or a number that JSON does not have
  }
}

/**
 * Whatever an edit tried, protected text is the same before and after, and nothing is hidden that was not, or the edit did
 * not happen. The document is looked at, not the edit alone: two harmless halves make a comment.
 */
function applyGuarded(skill: string, fields: ReadEdit): Applied {
  const regions = findRegions(skill);
  const found = fields.target === '' ? -1 : skill.indexOf(fields.target);
  if (found !== -1 && touches(regions, found, found + fields.target.length)) return skipped(skill);
  if (!Object.hasOwn(operations, fields.op)) return { skill, status: 'skipped_unknown_op' };
  if (fields.op !== 'delete' && hasMarker(fields.content)) return { skill, status: 'skipped_marker' };
  const applied = operations[fields.op as EditOp](skill, fields, found, regions);
  const isIntact = protectedText(applied.skill).join('\0') === protectedText(skill).join('\0');
  if (!isIntact) return skipped(skill);
  const hidden = applied.skill === skill ? undefined : findNewHidden(skill, applied.skill);
  return hidden ? { skill, status: `skipped_${hidden.kind}` } : applied;
}

const skipped = (skill: string): Applied => ({ skill, status: 'skipped_protected_region' });
const touches = (regions: readonly Region[], start: number, end: number) =>
  regions.some((region) => start < region.end && end > region.start);

const operations: Record<
  EditOp,
  (skill: string, fields: ReadEdit, found: number, regions: readonly Region[]) => Applied
> = {
  append(skill, { content }, _found, regions) {
    return append(skill, content, regions, ['applied_append', 'applied_append_before_protected_region']);
  },
  insert_after(skill, { target, content }, found, regions) {
    if (found === -1) {
      return append(skill, content, regions, [
        'applied_insert_after_fallback_append',
        'applied_insert_after_fallback_before_protected_region',
      ]);
    }
    if (strip(content) === '') return { skill, status: 'skipped_empty_content' };
    const newline = skill.indexOf('\n', found + target.replace(/(?<![\r\n])[\r\n]+$/, '').length);
    const at = newline === -1 ? skill.length : newline + 1;
    if (touches(regions, at, at + 1) && touches(regions, at - 1, at)) return skipped(skill);
    return { skill: `${skill.slice(0, at)}\n${content}\n${skill.slice(at)}`, status: 'applied_insert_after' };
  },
  replace(skill, { target, content }, found) {
    if (target === '') return { skill, status: 'skipped_replace_missing_target' };
    if (found === -1) return { skill, status: 'skipped_replace_target_not_found' };
    return { skill: splice(skill, found, target, content), status: 'applied_replace' };
  },
  delete(skill, { target }, found) {
    if (target === '') return { skill, status: 'skipped_delete_missing_target' };
    if (found === -1) return { skill, status: 'skipped_delete_target_not_found' };
    return { skill: splice(skill, found, target, ''), status: 'applied_delete' };
  },
};

/** Not `String.replace`, which would read `$&` in the content as a pattern. */
function splice(skill: string, found: number, target: string, content: string): string {
  return skill.slice(0, found) + content + skill.slice(found + target.length);
}

/** At the end of the document, but before the first marked block: those stay last. */
function append(
  skill: string,
  content: string,
  regions: readonly Region[],
  statuses: [EditStatus, EditStatus],
): Applied {
  if (strip(content) === '') return { skill, status: 'skipped_empty_content' };
  const block = regions.find((region) => region.kind !== 'frontmatter');
  if (!block) return { skill: `${rstrip(skill)}\n\n${content}\n`, status: statuses[0] };
  const before = rstrip(skill.slice(0, block.start));
  const lead = before === '' ? '' : `${before}\n\n`;
  return { skill: `${lead}${content}\n\n${skill.slice(block.start)}`, status: statuses[1] };
}
