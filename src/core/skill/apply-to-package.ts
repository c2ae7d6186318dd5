import { findDescription, withDescription } from './description.ts';
import type { Applied, EditStatus, ReadEdit } from './edit-status.ts';
import { findNewHidden } from './hidden-text.ts';
import { joinPackage, type PackageFiles, SKILL_FILE, splitPackage } from './package-text.ts';
import { hasMarker } from './protected-regions.ts';
import { type EditPolicy, isNewPath, isTaken, partOf } from './skill-parts.ts';

/** Applies an edit to one text, with all that protects it. */
type ApplyToText = (text: string, edit: ReadEdit) => Applied;

/** The package after an edit of one of its files, or as it was where the policy does not allow it. */
export function applyToPackage(text: string, edit: ReadEdit, policy: EditPolicy, applyToText: ApplyToText): Applied {
  const files = policy.isPackage ? splitPackage(text) : { [SKILL_FILE]: text };
  const path = edit.file === '' ? SKILL_FILE : edit.file;
  const refusal = whyRefused(path, edit, files, policy);
  if (refusal) return { skill: text, status: refusal };
  const join = (changed: PackageFiles) => (policy.isPackage ? joinPackage(changed) : (changed[SKILL_FILE] ?? ''));
  if (edit.op === 'delete_file') return { skill: join(without(files, path)), status: 'applied_delete_file' };
  const old = files[path] ?? '';
  const applied = edit.op === 'create_file' ? create(edit) : change(path, old, edit, policy, applyToText);
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
  if (op === 'create_file') return isThere ? 'skipped_file_exists' : whyTaken(path, files);
  return isThere ? undefined : 'skipped_file_not_found';
}

const hasPart = ({ parts }: EditPolicy, part: string) => (parts as readonly string[]).includes(part);
const whyTaken = (path: string, files: PackageFiles) =>
  isTaken(path, Object.keys(files)) ? 'skipped_path' : undefined;

const without = (files: PackageFiles, path: string): PackageFiles =>
  Object.fromEntries(Object.entries(files).filter(([one]) => one !== path));

/** Not at the cost of the first line's indent. */
const withoutEmptyLines = (text: string) => text.replace(/^(?:[ \t]*\r?\n)+/, '').trimEnd();

function create({ content, written }: ReadEdit): Applied {
  if (content === '') return { skill: '', status: 'skipped_empty_content' };
  if (hasMarker(content)) return { skill: '', status: 'skipped_marker' };
  const hidden = findNewHidden('', content);
  if (hidden) return { skill: '', status: `skipped_${hidden.kind}` };
  return { skill: `${withoutEmptyLines(written)}\n`, status: 'applied_create_file' };
}

const PROSE = /\.(?:md|markdown|txt|rst)$/i;

function change(path: string, old: string, edit: ReadEdit, policy: EditPolicy, applyToText: ApplyToText): Applied {
  if (path === SKILL_FILE && hasPart(policy, 'description')) return changeDescription(old, edit);
  if (PROSE.test(path)) return applyToText(old, edit);
  const { op, written } = edit;
  return applyToText(old, { ...edit, content: op === 'replace' ? written : withoutEmptyLines(written) });
}

/** What an optimizer means that quotes the field with its name, its quotes or its line ends. */
function valueIn(text: string): string {
  const value = text
    .replace(/^\s*description:\s*(?:[|>][-+]?\s)?/, '')
    .replace(/\s+/g, ' ')
    .trim();
  return /^(["']).*\1$/.test(value) && value !== text.trim() ? value.slice(1, -1) : value;
}

/** The one line of the frontmatter that agents choose by. */
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
