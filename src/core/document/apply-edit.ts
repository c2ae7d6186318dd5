import { head, rstrip, strip } from '../text/index.ts';
import type { Applied, Edit, EditOp, EditStatus, Patch, ReadEdit } from './edit.ts';
import {
  type EditPolicy,
  findDescription,
  isNewPath,
  isTaken,
  joinPackage,
  type PackageFiles,
  partOf,
  SKILL_FILE,
  splitPackage,
  withDescription,
} from './package.ts';
import { findNewHidden, findRegions, hasMarker, protectedText, type Region } from './protected-regions.ts';

/** What became of one edit. `index` counts from 1; texts are cut at 200 code points. */
export type EditReport = {
  readonly index: number;
  readonly op: string;
  readonly file?: string;
  readonly target: string;
  readonly contentPreview: string;
  readonly status: EditStatus;
  readonly error?: string;
};

/** An edit that does not fit leaves the text alone. */
export const applyEdit = (skill: string, edit: Edit | unknown): string => applyPatch(skill, { edits: [edit] });

export const applyPatch = (skill: string, patch: Patch | unknown): string => applyPatchWithReport(skill, patch).skill;

/**
 * The text after all edits, and a report row per edit. A malformed edit is a row too. With a policy, edits change the files of
 * a package.
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
    const applied = policy ? applyToPackage(text, fields, policy) : applyAlone(text, fields);
    text = applied.skill;
    const { op, file, target, content } = fields;
    const place = { index, op, ...(file === '' ? {} : { file }) };
    return { ...place, target: head(target, 200), contentPreview: head(content, 200), status: applied.status };
  });
  return { skill: text, report };
}

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
 * An edit that would change protected text, or hide something, does not happen. The document is checked and not the edit
 * alone, since two harmless halves make a comment.
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

type Operation = (skill: string, fields: ReadEdit, found: number, regions: readonly Region[]) => Applied;

const operations: Record<EditOp, Operation> = {
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
const splice = (skill: string, found: number, target: string, content: string): string =>
  skill.slice(0, found) + content + skill.slice(found + target.length);

/** At the end of the document, but before the marked blocks: those stay last. */
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

function applyToPackage(text: string, edit: ReadEdit, policy: EditPolicy): Applied {
  const files = policy.isPackage ? splitPackage(text) : { [SKILL_FILE]: text };
  const path = edit.file === '' ? SKILL_FILE : edit.file;
  const refusal = whyRefused(path, edit, files, policy);
  if (refusal) return { skill: text, status: refusal };
  const join = (changed: PackageFiles) => (policy.isPackage ? joinPackage(changed) : (changed[SKILL_FILE] ?? ''));
  if (edit.op === 'delete_file') {
    const { [path]: _, ...others } = files;
    return { skill: join(others), status: 'applied_delete_file' };
  }
  const applied = edit.op === 'create_file' ? create(edit) : change(path, files[path] ?? '', edit, policy);
  if (!applied.status.startsWith('applied')) return { skill: text, status: applied.status };
  return { skill: join({ ...files, [path]: applied.skill }), status: applied.status };
}

function whyRefused(path: string, { op }: ReadEdit, files: PackageFiles, policy: EditPolicy): EditStatus | undefined {
  const isFileOp = op === 'create_file' || op === 'delete_file';
  if (path === SKILL_FILE) {
    if (isFileOp) return 'skipped_protected_region';
    return hasPart(policy, 'body') || hasPart(policy, 'description') ? undefined : 'skipped_part';
  }
  const isThere = Object.hasOwn(files, path);
  if (!isThere && !isNewPath(path)) return 'skipped_path';
  if (!policy.isPackage || !hasPart(policy, partOf(path))) return 'skipped_part';
  if (op === 'create_file' && isThere) return 'skipped_file_exists';
  if (op === 'create_file') return isTaken(path, Object.keys(files)) ? 'skipped_path' : undefined;
  return isThere ? undefined : 'skipped_file_not_found';
}

const hasPart = ({ parts }: EditPolicy, part: string) => (parts as readonly string[]).includes(part);

/** Keeps the indent of the first line. */
const withoutEmptyLines = (text: string) => text.replace(/^(?:[ \t]*\r?\n)+/, '').trimEnd();

function create({ content, written }: ReadEdit): Applied {
  if (content === '') return { skill: '', status: 'skipped_empty_content' };
  if (hasMarker(content)) return { skill: '', status: 'skipped_marker' };
  const hidden = findNewHidden('', content);
  if (hidden) return { skill: '', status: `skipped_${hidden.kind}` };
  return { skill: `${withoutEmptyLines(written)}\n`, status: 'applied_create_file' };
}

const PROSE = /\.(?:md|markdown|txt|rst)$/i;

function change(path: string, old: string, edit: ReadEdit, policy: EditPolicy): Applied {
  if (path === SKILL_FILE && hasPart(policy, 'description')) return changeDescription(old, edit);
  if (PROSE.test(path)) return applyGuarded(old, edit);
  const { op, written } = edit;
  return applyGuarded(old, { ...edit, content: op === 'replace' ? written : withoutEmptyLines(written) });
}

function valueIn(text: string): string {
  const value = text
    .replace(/^\s*description:\s*(?:[|>][-+]?\s)?/, '')
    .replace(/\s+/g, ' ')
    .trim();
  return /^(["']).*\1$/.test(value) && value !== text.trim() ? value.slice(1, -1) : value;
}

/** The line of the frontmatter by which agents choose a skill. */
function changeDescription(skill: string, { op, target, content }: ReadEdit): Applied {
  const found = findDescription(skill);
  if (!found) return { skill, status: 'skipped_protected_region' };
  const wanted = valueIn(target);
  const given = valueIn(content);
  const at = found.value.indexOf(wanted);
  const written = (value: string, status: EditStatus): Applied => ({
    skill: withDescription(skill, found, value),
    status,
  });
  if (op !== 'delete' && (hasMarker(given) || findNewHidden('', given))) return { skill, status: 'skipped_marker' };
  if (op === 'append' || op === 'insert_after') return written(`${found.value} ${given}`, 'applied_append');
  if (op !== 'replace' && op !== 'delete') return { skill, status: 'skipped_unknown_op' };
  if (wanted === '') return { skill, status: `skipped_${op}_missing_target` };
  if (at === -1) return { skill, status: skill.includes(target) ? 'skipped_part' : `skipped_${op}_target_not_found` };
  const rest = [found.value.slice(0, at), found.value.slice(at + wanted.length)];
  return written(rest.join(op === 'delete' ? '' : given), `applied_${op}`);
}
