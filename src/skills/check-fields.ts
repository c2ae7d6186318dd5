import { checkName } from './check-name.ts';
import type { Finding, Rule } from './finding.ts';
import type { Field } from './frontmatter-field.ts';

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
export function checkFields(fields: readonly Field[], folderName: string | undefined): Finding[] {
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
