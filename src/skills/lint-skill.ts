import { access } from 'node:fs/promises';
import { basename, isAbsolute, relative, resolve } from 'node:path';
import { MARKERS } from '../core/document/index.ts';
import { type Field, type Finding, lineFinder, parseFrontmatter, type Rule } from './frontmatter.ts';
import { readSkillFile } from './read-skill.ts';
import { type Link, relativeLinks } from './skill-files.ts';

type SkillText = {
  /** The name of the folder that holds the skill; undefined where it is not known. */
  readonly folderName: string | undefined;
  readonly text: string;
};

/** What is wrong with a skill according to the Agent Skills specification and to the trainer, in order of lines. */
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

/** Lints a skill folder or a skill file. Where the folder is known, its name and the files linked in it count, too. */
export async function lintFolder(path: string): Promise<LintedSkill> {
  const { file, folder, text } = await readSkillFile(path);
  const findings = lintSkill({ folderName: folder === undefined ? undefined : basename(folder), text });
  const missing = folder === undefined ? [] : await missingLinks(text, folder);
  return { file, findings: [...findings, ...missing].sort((a, b) => a.line - b.line) };
}

async function missingLinks(text: string, folder: string): Promise<Finding[]> {
  const { bodyStart } = parseFrontmatter(text);
  // Blank lines for the frontmatter keep the numbers of the lines.
  const body = text.slice(0, bodyStart).replace(/[^\n]+/g, '') + text.slice(bodyStart);
  const links = relativeLinks(body).filter(({ path }) => isInside(path, folder));
  return (await Promise.all(links.map((link) => checkLink(link, folder)))).flat();
}

function isInside(path: string, folder: string): boolean {
  const fromFolder = relative(folder, resolve(folder, path));
  return !fromFolder.startsWith('..') && !isAbsolute(fromFolder);
}

async function checkLink({ path, line }: Link, folder: string): Promise<Finding[]> {
  const message = `expected a file at the end of the link ${JSON.stringify(path)}, but the folder has none there`;
  const missing: Finding = { line, level: 'warning', rule: 'link-missing', message };
  return access(resolve(folder, path)).then(
    () => [],
    () => [missing],
  );
}

type Problem = readonly [Rule, string];

/** The rules for `name`. Spellings that Unicode holds for the same (NFKC) are the same. */
function checkName(written: string, { line, folderName }: { line: number; folderName: string | undefined }): Finding[] {
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

type Place = { readonly line: number; readonly folderName: string | undefined };
type CheckText = (text: string, place: Place) => Finding[];

const anyText: CheckText = () => [];

const CHECKS: ReadonlyMap<string, CheckText> = new Map([
  ['name', checkName],
  ['description', lengthOf('description', 1024)],
  ['license', anyText],
  ['allowed-tools', anyText],
  ['compatibility', lengthOf('compatibility', 500)],
]);
const REQUIRED = ['name', 'description'];
const KNOWN = [...CHECKS.keys(), 'metadata'].join(', ');

/** The rules for the fields of the frontmatter. Without a folder's name, `name` is compared with nothing. */
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
  if (value.kind === 'map') {
    return value.fields().flatMap((entry) => checkText(entry, `metadata.${entry.key}`, () => []));
  }
  const isNothing = value.kind === 'text' && value.text === '';
  return isNothing
    ? []
    : [error(line, 'metadata-not-map', `metadata: expected a map of text to text, got ${value.kind}`)];
}

function checkText({ value, line }: Field, label: string, check: (text: string) => Finding[]): Finding[] {
  if (value.kind !== 'text') return [error(line, 'field-not-text', `${label}: expected text, got a ${value.kind}`)];
  const found = check(value.text);
  return value.isText
    ? found
    : [notQuoted(line, `${label}: YAML reads ${value.text} as something other than text`), ...found];
}

/** A warning only: readers that take every value for text, as the reference reader does, see no difference. */
function notQuoted(line: number, message: string): Finding {
  return { line, level: 'warning', rule: 'field-not-quoted', message: `${message}; put it in quotes` };
}

function lengthOf(label: string, most: number): CheckText {
  return (text, { line }) => {
    const { length } = [...text.trim()];
    const message = `${label}: expected 1 to ${most} characters, got ${length}`;
    return length >= 1 && length <= most ? [] : [error(line, length === 0 ? 'field-missing' : 'field-length', message)];
  };
}

const error = (line: number, rule: Rule, message: string): Finding => ({ line, level: 'error', rule, message });

const MAX_LINES = 500;
const MAX_TOKENS = 5000;
/** A rough measure of English text; other languages need more tokens for as many characters. */
const CHARACTERS_PER_TOKEN = 4;

/** Advice about the text after the frontmatter. What is too long is reported where it becomes too long. */
function checkBody(text: string, bodyStart: number): Finding[] {
  const lineAt = lineFinder(text);
  if (text.slice(bodyStart).trim() === '') {
    return [warning(lineAt(Math.max(bodyStart - 1, 0)), 'body-empty', 'expected instructions after the frontmatter')];
  }
  return [...checkLines(text, lineAt(bodyStart)), ...checkTokens(text, bodyStart)];
}

function checkLines(text: string, first: number): Finding[] {
  const lines = lineFinder(text)(text.length - 1) - first + 1;
  if (lines <= MAX_LINES) return [];
  return [warning(first + MAX_LINES, 'body-lines', `expected at most ${MAX_LINES} lines, got ${lines}; ${ADVICE}`)];
}

function checkTokens(text: string, bodyStart: number): Finding[] {
  const tokens = Math.ceil((text.length - bodyStart) / CHARACTERS_PER_TOKEN);
  if (tokens <= MAX_TOKENS) return [];
  const line = lineFinder(text)(bodyStart + MAX_TOKENS * CHARACTERS_PER_TOKEN);
  const got = `got about ${tokens} (estimated as characters / ${CHARACTERS_PER_TOKEN})`;
  return [warning(line, 'body-tokens', `expected at most ${MAX_TOKENS} tokens, ${got}; ${ADVICE}`)];
}

const ADVICE = 'move details into files of their own and link them';

const warning = (line: number, rule: Rule, message: string): Finding => ({ line, level: 'warning', rule, message });

type Marker = { readonly marker: string; readonly line: number };

const STARTS = new Map<string, string>(Object.values(MARKERS).map(({ start, end }) => [end, start]));
const ANY = new RegExp([...STARTS].flat().join('|'), 'g');

/** Blocks that the trainer protects must be closed, and none may begin inside another. */
function checkMarkers(text: string): Finding[] {
  const findings: Finding[] = [];
  const open: Marker[] = [];
  for (const marker of markersIn(text)) findings.push(...follow(marker, open));
  return [...findings, ...open.map(({ marker, line }) => error(line, 'marker-unpaired', `${marker} is never closed`))];
}

function markersIn(text: string): Marker[] {
  const lineAt = lineFinder(text);
  return [...text.matchAll(ANY)].map(({ 0: marker, index }) => ({ marker, line: lineAt(index) }));
}

/** Takes one more marker into account: `open` holds those that wait for their end, the last one innermost. */
function follow({ marker, line }: Marker, open: Marker[]): Finding[] {
  const start = STARTS.get(marker);
  if (start === undefined) {
    const outer = open.at(-1);
    open.push({ marker, line });
    return outer ? [error(line, 'marker-nested', `${marker} stands inside the block of line ${outer.line}`)] : [];
  }
  const index = open.findLastIndex((candidate) => candidate.marker === start);
  if (index === -1) return [error(line, 'marker-unpaired', `${marker} closes nothing`)];
  open.splice(index, 1);
  return [];
}
