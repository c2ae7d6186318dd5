import type { Finding, Rule } from './finding.ts';

const MAX_CHARACTERS = 64;

type Problem = readonly [Rule, string];

/** The rules for `name`. Spellings that Unicode holds for the same (NFKC) are the same. */
export function checkName(
  written: string,
  { line, folderName }: { line: number; folderName: string | undefined },
): Finding[] {
  const name = written.normalize('NFKC').trim();
  const problems = [...lengthProblems(name), ...characterProblems(name), ...folderProblems(name, folderName)];
  return problems.map(([rule, message]) => ({ line, level: 'error', rule, message }));
}

function lengthProblems(name: string): Problem[] {
  const { length } = [...name];
  if (length >= 1 && length <= MAX_CHARACTERS) return [];
  const message = `name: expected 1 to ${MAX_CHARACTERS} characters, got ${length}`;
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

function folderProblems(name: string, folderName: string | undefined): Problem[] {
  if (folderName === undefined || name === '' || name === folderName.normalize('NFKC')) return [];
  return [['name-folder', `name: expected the folder's name ${quoted(folderName)}, got ${quoted(name)}`]];
}

const quoted = (text: string) => JSON.stringify(text.length > 80 ? `${text.slice(0, 79)}…` : text);
