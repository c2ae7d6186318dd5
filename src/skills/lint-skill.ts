import { existsSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { MARKERS } from '../core/document/index.ts';
import { nameProblem, portableName } from '../core/text/index.ts';
import { type Field, type Finding, lineFinder, parseFrontmatter, type Rule } from './frontmatter.ts';
import { isInside, type Link, readSkillFile, relativeLinks } from './read-skill.ts';

type SkillText = { readonly folderName: string | undefined; readonly text: string };

/** Problems by the Agent Skills specification and for the trainer, in order of lines. */
export function lintSkill({ folderName, text }: SkillText): Finding[] {
  const { fields, findings, bodyStart } = parseFrontmatter(text);
  return [
    ...findings,
    ...(fields ? checkFields(fields, folderName) : []),
    ...checkBody(text, bodyStart),
    ...checkMarkers(text),
  ].sort((a, b) => a.line - b.line);
}

export type LintedSkill = { readonly file: string; readonly findings: readonly Finding[] };

/** Lints a skill folder or file. If the folder is known, its name and linked files are checked too. */
export async function lintFolder(path: string): Promise<LintedSkill> {
  const { file, folder, text } = await readSkillFile(path);
  const findings = lintSkill({ folderName: folder === undefined ? undefined : basename(folder), text });
  const missing = folder === undefined ? [] : missingLinks(text, folder);
  return { file, findings: [...findings, ...missing].sort((a, b) => a.line - b.line) };
}

function missingLinks(text: string, folder: string): Finding[] {
  const { bodyStart } = parseFrontmatter(text);
  // Blank lines instead of the frontmatter keep the line numbers.
  const body = text.slice(0, bodyStart).replace(/[^\n]+/g, '') + text.slice(bodyStart);
  const links = relativeLinks(body).filter(({ path }) => isInside(resolve(folder, path), folder));
  return links.flatMap((link) => checkLink(link, folder));
}

function checkLink({ path, line }: Link, folder: string): Finding[] {
  if (existsSync(resolve(folder, path))) return [];
  const message = `expected a file at the end of the link ${JSON.stringify(path)}, but the folder has none there`;
  return [warning(line, 'link-missing', message)];
}

/** Spellings that are equal in Unicode (NFKC) count as equal. */
function checkName(written: string, { line, folderName }: FieldContext): Finding[] {
  const name = written.normalize('NFKC').trim();
  const strange = [...new Set(name)].filter((char) => !isAllowed(char));
  const got = strange.slice(0, 5).map(quoted).join(', ');
  const characters = `name: expected lowercase letters, digits and hyphens, got ${got}`;
  const problem = name === '' || strange.length > 0 ? undefined : nameProblem(name);
  const hyphens = `name: expected single hyphens, and none at either end, got ${quoted(name)}`;
  return [
    ...checkLength('name', name, { line, most: MAX_NAME_LENGTH }),
    ...(strange.length > 0 ? [error(line, 'name-characters', characters)] : []),
    ...(/^-|-$|--/.test(name) ? [error(line, 'name-hyphens', hyphens)] : []),
    ...checkFolder(name, line, folderName),
    ...(problem !== undefined ? [warning(line, 'name-device', `name: ${problem}`)] : []),
  ];
}

/** Letters without a case, such as Chinese ones, are allowed. */
const isAllowed = (char: string) => /[\p{L}\p{N}-]/u.test(char) && char === char.toLowerCase();

/** A folder's name may not be valid for a skill. The nearest valid name gets only advice about the folder. */
function checkFolder(name: string, line: number, folderName: string | undefined): Finding[] {
  const folder = folderName?.normalize('NFKC');
  if (folder === undefined || name === '' || name === folder) return [];
  if (name !== skillNameFor(folder))
    return [error(line, 'name-folder', `name: expected the folder's name ${quoted(folder)}, got ${quoted(name)}`)];
  const message = `name: is ${quoted(name)}, but the folder is ${quoted(folder)}; name it ${quoted(name)} before agents use it`;
  return [warning(line, 'name-folder', message)];
}

const quoted = (text: string) => JSON.stringify(text.length > 80 ? `${text.slice(0, 79)}…` : text);

const MAX_NAME_LENGTH = 64;

/** The name of a skill in this folder: lower case, with a hyphen for all but letters and digits. */
export function skillNameFor(folderName: string): string {
  const plain = folderName.normalize('NFKC').toLowerCase();
  const words = plain.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
  const name = [...words.join('-')].slice(0, MAX_NAME_LENGTH).join('').replace(/-$/, '');
  return name === '' ? 'skill' : portableName(name);
}

type FieldContext = { readonly line: number; readonly folderName: string | undefined };
type CheckText = (text: string, context: FieldContext) => Finding[];

const anyText: CheckText = () => [];

const CHECKS: ReadonlyMap<string, CheckText> = new Map([
  ['name', checkName],
  ['description', (text, { line }) => checkLength('description', text, { line, most: 1024 })],
  ['license', anyText],
  ['allowed-tools', anyText],
  ['compatibility', (text, { line }) => checkLength('compatibility', text, { line, most: 500 })],
]);
const REQUIRED = ['name', 'description'];
const KNOWN = [...CHECKS.keys(), 'metadata'].join(', ');

function checkFields(fields: readonly Field[], folderName: string | undefined): Finding[] {
  const missing = REQUIRED.filter((key) => fields.every((field) => field.key !== key));
  return [
    ...missing.map((key) => error(1, 'field-missing', `expected the field ${key} in the frontmatter`)),
    ...fields.flatMap((field) => checkField(field, folderName)),
  ];
}

function checkField(field: Field, folderName: string | undefined): Finding[] {
  if (field.key === 'metadata') return checkMetadata(field);
  const check = CHECKS.get(field.key);
  if (check) return checkText(field, field.key, (text) => check(text, { line: field.line, folderName }));
  const message = `expected one of ${KNOWN}, got ${JSON.stringify(field.key)}; fields of your own belong in metadata`;
  return [error(field.line, 'field-unknown', message)];
}

function checkMetadata({ value, line }: Field): Finding[] {
  if (value.kind === 'map')
    return value.fields().flatMap((entry) => checkText(entry, `metadata.${entry.key}`, () => []));
  if (value.kind === 'text' && value.text === '') return [];
  return [error(line, 'metadata-not-map', `metadata: expected a map of text to text, got ${value.kind}`)];
}

function checkText({ value, line }: Field, label: string, check: (text: string) => Finding[]): Finding[] {
  if (value.kind !== 'text') return [error(line, 'field-not-text', `${label}: expected text, got a ${value.kind}`)];
  const found = check(value.text);
  if (value.isText) return found;
  // Only a warning: the reference reader takes every value for text.
  const message = `${label}: YAML reads ${value.text} as something other than text; put it in quotes`;
  return [warning(line, 'field-not-quoted', message), ...found];
}

function checkLength(label: string, text: string, { line, most }: { line: number; most: number }): Finding[] {
  const { length } = [...text.trim()];
  const message = `${label}: expected 1 to ${most} characters, got ${length}`;
  return length >= 1 && length <= most ? [] : [error(line, length === 0 ? 'field-missing' : 'field-length', message)];
}

const error = (line: number, rule: Rule, message: string): Finding => ({ line, level: 'error', rule, message });
const warning = (line: number, rule: Rule, message: string): Finding => ({ line, level: 'warning', rule, message });

const MAX_LINES = 500;
const MAX_TOKENS = 5000;
/** A rough measure of English text. Other languages have more tokens. */
const CHARACTERS_PER_TOKEN = 4;
const ADVICE = 'move details into files of their own and link them';

/** Advice about the text after the frontmatter, at the line where it becomes too long. */
function checkBody(text: string, bodyStart: number): Finding[] {
  const lineAt = lineFinder(text);
  if (text.slice(bodyStart).trim() === '')
    return [warning(lineAt(Math.max(bodyStart - 1, 0)), 'body-empty', 'expected instructions after the frontmatter')];
  const first = lineAt(bodyStart);
  const lines = lineAt(text.length - 1) - first + 1;
  const tokens = Math.ceil((text.length - bodyStart) / CHARACTERS_PER_TOKEN);
  const tooManyLines = `expected at most ${MAX_LINES} lines, got ${lines}; ${ADVICE}`;
  const got = `got about ${tokens} (estimated as characters / ${CHARACTERS_PER_TOKEN})`;
  const tooManyTokens = `expected at most ${MAX_TOKENS} tokens, ${got}; ${ADVICE}`;
  const tokensEnd = bodyStart + MAX_TOKENS * CHARACTERS_PER_TOKEN;
  return [
    ...(lines > MAX_LINES ? [warning(first + MAX_LINES, 'body-lines', tooManyLines)] : []),
    ...(tokens > MAX_TOKENS ? [warning(lineAt(tokensEnd), 'body-tokens', tooManyTokens)] : []),
  ];
}

const STARTS = new Map<string, string>(Object.values(MARKERS).map(({ start, end }) => [end, start]));
const ANY = new RegExp([...STARTS].flat().join('|'), 'g');

/** Blocks that the trainer protects must be closed, and none may begin inside another. */
function checkMarkers(text: string): Finding[] {
  const findings: Finding[] = [];
  const open = new Map([...STARTS.values()].map((start) => [start, [] as number[]])); // the lines of those that are open
  const lineAt = lineFinder(text);
  for (const { 0: marker, index } of text.matchAll(ANY)) {
    const line = lineAt(index);
    const start = STARTS.get(marker);
    if (start === undefined) {
      const outer = Math.max(...[...open.values()].map((lines) => lines.at(-1) ?? 0));
      if (outer > 0) findings.push(error(line, 'marker-nested', `${marker} stands inside the block of line ${outer}`));
      open.get(marker)!.push(line);
    } else if (open.get(start)!.pop() === undefined)
      findings.push(error(line, 'marker-unpaired', `${marker} closes nothing`));
  }
  const left = [...open].flatMap(([marker, lines]) => lines.map((line) => ({ marker, line })));
  return [...findings, ...left.map(({ marker, line }) => error(line, 'marker-unpaired', `${marker} is never closed`))];
}
