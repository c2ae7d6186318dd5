import { parse } from 'csv-parse/sync';
import { type Assertion, isKnownType } from './assertion.ts';

type Cells = Readonly<Record<string, string>>;

const SHORT_NAMES: Readonly<Record<string, string>> = { grade: 'llm-rubric', fn: 'javascript', eval: 'javascript' };

/** The tests in a table: columns are variables, those with two strokes are checks and what else a test has. */
export function testsInTable(text: string): Record<string, unknown>[] {
  // Spaces count: a suffix begins with one.
  const rows = parse(text, { columns: true, bom: true, skipEmptyLines: true, relaxColumnCount: true }) as Cells[];
  return rows.map((cells) => {
    const own = Object.entries(cells).filter(([name]) => !name.startsWith('__'));
    const expected = Object.entries(cells).filter(([name, cell]) => /^__expected\d*$/.test(name) && cell.trim() !== '');
    const { __description: description, __threshold: threshold, __prefix: prefix, __suffix: suffix } = cells;
    return {
      vars: Object.fromEntries(own),
      assert: expected.map(([, cell]) => toAssertion(cell)),
      options: { ...(prefix ? { prefix } : {}), ...(suffix ? { suffix } : {}) },
      ...(description ? { description } : {}),
      ...(threshold ? { threshold: Number(threshold) } : {}),
    };
  });
}

/** `type:value`, `type(threshold):value` or a type that needs no value; any other text is what the answer must be. */
function toAssertion(cell: string): Assertion {
  const [, written, bar, value] = /^\s*([\w:-]+?)\s*(?:\((-?[\d.]+)\))?\s*(?::([\s\S]*))?$/.exec(cell) ?? [];
  const name = (written ?? '').replace(/^not-/, '');
  const type = Object.hasOwn(SHORT_NAMES, name) ? SHORT_NAMES[name]! : name;
  if (!isKnownType(type)) return { type: 'equals', value: cell };
  return {
    type: written!.startsWith('not-') ? `not-${type}` : type,
    ...(value === undefined || value.trim() === '' ? {} : { value: value.trim() }),
    ...(bar === undefined ? {} : { threshold: Number(bar) }),
  };
}
