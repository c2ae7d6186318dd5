import type { Finding, Rule } from './finding.ts';

type Problem = readonly [Rule, string];

/** The rules for `name`. Spellings that Unicode holds for the same (NFKC) are the same. */
export function checkName(
  written: string,
  { line, folderName }: { line: number; folderName: string | undefined },
): Finding[] {
  const name = written.normalize('NFKC').trim();
  const problems = [...lengthProblems(name), ...characterProblems(name)];
  const errors = problems.map(([rule, message]): Finding => ({ line, level: 'error', rule, message }));
  return [...errors, ...checkFolder(name, line, folderName)];
}

function lengthProblems(name: string): Problem[] {
  const { length } = [...name];
  if (length >= 1 && length <= MAX_NAME_LENGTH) return [];
  const message = `name: expected 1 to ${MAX_NAME_LENGTH} characters, got ${length}`;
  return [[length === 0 ? 'field-missing' : 'field-length', message]];
}

function characterProblems(name: string): Problem[] {
  const strange = [...new Set(name)].filter((char) => !isAllowed(char));
  const problems: Problem[] = [];
  if (strange.length > 0) {
    const got = strange.slice(0, 5).map(quoted).join(', ');
    problems.push(['name-characters', `name: expected lowercase letters, digits and hyphens, got ${got}`]);
  }
  if (/^-|-$|--/.test(name)) {
    const expected = 'expected single hyphens, and none at either end';
    problems.push(['name-hyphens', `name: ${expected}, got ${quoted(name)}`]);
  }
  return problems;
}

/** Letters without a case, such as Chinese ones, are lowercase enough. */
const isAllowed = (char: string) => /[\p{L}\p{N}-]/u.test(char) && char === char.toLowerCase();

/** Where the folder's name cannot be a skill's, no name is right; for the nearest one, that is advice about the folder. */
function checkFolder(name: string, line: number, folderName: string | undefined): Finding[] {
  const folder = folderName?.normalize('NFKC');
  if (folder === undefined || name === '' || name === folder) return [];
  if (name === skillNameFor(folder)) {
    const message = `name: is ${quoted(name)}, but the folder is ${quoted(folder)}; name it ${quoted(name)} before agents use it`;
    return [{ line, level: 'warning', rule: 'name-folder', message }];
  }
  const message = `name: expected the folder's name ${quoted(folder)}, got ${quoted(name)}`;
  return [{ line, level: 'error', rule: 'name-folder', message }];
}

const quoted = (text: string) => JSON.stringify(text.length > 80 ? `${text.slice(0, 79)}…` : text);

const MAX_NAME_LENGTH = 64;

/**
 * The name of a skill in a folder: the folder's own where it may be a name, else the nearest one that may: lower case, and
 * a hyphen for what is neither letter nor digit.
 */
export function skillNameFor(folderName: string): string {
  const words = folderName
    .normalize('NFKC')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u);
  const joined = words.filter((word) => word !== '').join('-');
  return [...joined].slice(0, MAX_NAME_LENGTH).join('').replace(/-$/, '') || 'skill';
}
