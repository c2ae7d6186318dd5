import { defined, isObject, textOf } from '../../core/text/index.ts';
import { type LeftOut, NotCarried, reasonOf } from '../left-out.ts';
import { isFilled, type Row } from '../rows.ts';
import { type Assertion, isCode } from './assertion.ts';
import type { Fields, Source } from './source.ts';
import { render, renderDeep, type Vars } from './template.ts';

/** Something that says a part of a test, and where it stands. */
export type Layer = { readonly test: Fields; readonly where: string };

/** Which test a row is of. */
export type TestRow = {
  /** Its description, or its place. */
  readonly test: string;
  readonly isDescribed: boolean;
  readonly vars: Vars;
  /** Of each check that is carried, in order: its number among all that hold for the test. */
  readonly checks: readonly string[];
};

/** What checks become, and sets of them. Both throw `NotCarried`. */
export type Carry = { readonly check: (assertion: Assertion) => unknown; readonly set: (set: Assertion) => unknown };

type Context = {
  /** The most general first. */
  readonly layers: readonly Layer[];
  readonly prompts: readonly string[];
  readonly templates: Fields;
  readonly source: Source;
  readonly carry: Carry;
};

/** The tasks that one test becomes: one for each prompt and each combination of variables. */
export async function toRows(context: Context): Promise<(Row & TestRow)[]> {
  const { layers, source } = context;
  const { test: own, where } = layers.at(-1)!;
  const isDescribed = typeof own.description === 'string' && own.description.trim() !== '';
  const test = isDescribed ? textOf(own.description) : where;
  try {
    nameUnused(context, test);
    const options = Object.assign({}, ...layers.map((layer) => layer.test.options)) as Fields;
    requirePlain(layers, options);
    const { assertions, ownFrom } = assertionsOf(layers, options);
    if (assertions.length === 0) throw new NotCarried('it has no checks: promptfoo passes whatever the answer is');
    const combinations = await combine(await readVars(layers, source), options);
    const rows: (Row & TestRow)[] = [];
    for (const vars of combinations) {
      rows.push(...(await rowsOf({ ...context, assertions, ownFrom, options, vars, test, where, isDescribed })));
    }
    return rows;
  } catch (error) {
    source.leaveOut({ kind: 'task', where, what: 'the test', why: reasonOf(error), test });
    return [];
  }
}

type Combination = Context & {
  readonly assertions: readonly unknown[];
  /** Those before it hold by default for each test. */
  readonly ownFrom: number;
  readonly options: Fields;
  readonly vars: Vars;
  readonly test: string;
  readonly where: string;
  readonly isDescribed: boolean;
};

async function rowsOf(combination: Combination): Promise<(Row & TestRow)[]> {
  const { layers, prompts, options, vars, test, where, source, isDescribed } = combination;
  const carried = await carryChecks(combination);
  const { checks, numbers } = carried;
  requireOwn(carried, combination);
  const threshold = layers.map((layer) => layer.test.threshold).findLast((value) => value !== undefined);
  if (threshold === 0) throw new NotCarried('its threshold of 0 lets any answer pass');
  const judge = { kind: 'checks', checks, ...(threshold === undefined ? {} : { threshold }) };
  const [prefix, suffix] = [textOf(options.prefix ?? ''), textOf(options.suffix ?? '')];
  const templates = prompts.map((prompt) => `${prefix}${prompt}${suffix}`);
  for (const template of templates) {
    for (const name of emptyVariables(template, vars)) {
      source.leaveOut({ kind: 'check', where, what: `{{${name}}}`, why: 'it is empty', test });
    }
  }
  const questions = templates.map((template) => render(template, vars));
  if (!questions.every(isFilled)) throw new NotCarried('it asks nothing: a variable of its prompt is missing');
  const twin = questions.length > 1 ? { twin: `${where} ${JSON.stringify(vars)}` } : {};
  return questions.map((question) => ({
    value: { question, judge, ...answersIn(checks) },
    where: `${source.path}: ${where}`,
    ...{ test, isDescribed, vars, checks: numbers, ...twin },
  }));
}

const WANTED = ['equals', 'contains', 'icontains', 'contains-any', 'icontains-any'];

/** Texts that a right answer has: analysts see them as they see the gold answer of a question, and leaks of them are found. */
function answersIn(checks: readonly unknown[]): { answers?: string[] } {
  const wanted = checks.filter(isObject).filter(({ type, not }) => WANTED.includes(textOf(type)) && not !== true);
  const texts = wanted.flatMap(({ value }) => (Array.isArray(value) ? value : [value]));
  const answers = texts.filter((text): text is string => typeof text === 'string' && isFilled(text));
  return answers.length === 0 ? {} : { answers: [...new Set(answers)] };
}

const KNOWN = ['description', 'vars', 'assert', 'threshold', 'options', 'assertScoringFunction'];
const KNOWN_OPTIONS = 'transform postprocess transformVars disableDefaultAsserts disableVarExpansion prefix suffix';

/** What a test says and nothing here does, named at the place where it says it. */
function nameUnused({ layers, source }: Context, test: string): void {
  for (const layer of layers) {
    const options = isObject(layer.test.options) ? Object.keys(layer.test.options) : [];
    const unused = [
      ...Object.keys(layer.test).filter((key) => !KNOWN.includes(key)),
      ...options.filter((key) => !KNOWN_OPTIONS.split(' ').includes(key)).map((key) => `options.${key}`),
    ];
    for (const key of unused) {
      source.leaveOut({ where: `${layer.where}.${key}`, what: key, why: 'nothing here does it', test });
    }
  }
}

/** Throws for a test whose answers or verdicts are made by code. */
function requirePlain(layers: readonly Layer[], options: Fields): void {
  const code = ['transform', 'postprocess'].find((key) => options[key] !== undefined);
  if (code !== undefined) throw new NotCarried(`code changes the answer first (options.${code})`);
  if (options.transformVars !== undefined) {
    throw new NotCarried('code changes the variables (options.transformVars)');
  }
  if (layers.some(({ test }) => test.assertScoringFunction !== undefined)) {
    throw new NotCarried('the verdict of this test is made by code (assertScoringFunction)');
  }
}

function assertionsOf(layers: readonly Layer[], { disableDefaultAsserts }: Fields) {
  const checksIn = (some: readonly Layer[]): readonly unknown[] =>
    some.flatMap(({ test }) => (Array.isArray(test.assert) ? test.assert : []));
  const isDefault = ({ where }: Layer) => where === 'defaultTest';
  const general = disableDefaultAsserts === true ? [] : checksIn(layers.filter(isDefault));
  return {
    assertions: [...general, ...checksIn(layers.filter((layer) => !isDefault(layer)))],
    ownFrom: general.length,
  };
}

/** The variables of all layers, with what files hold. */
async function readVars(layers: readonly Layer[], source: Source): Promise<Record<string, unknown>> {
  const vars: Record<string, unknown> = {};
  for (const { test } of layers) {
    const given = await source.resolve(test.vars ?? {}, 'the variables are made by code');
    if (!isObject(given)) throw new NotCarried('its variables are no object');
    for (const [name, value] of Object.entries(given)) {
      const values = Array.isArray(value) ? value : [value];
      const read = await Promise.all(values.map((each) => source.resolve(each, 'the question is made by code')));
      vars[name] = Array.isArray(value) ? read : read[0];
    }
  }
  return vars;
}

/** Lists multiply one test beyond what anybody means. */
const MAX_COMBINATIONS = 10_000;

/** Every choice of one value from each list. */
function combine(vars: Vars, { disableVarExpansion }: Fields): Vars[] {
  if (disableVarExpansion === true) return [vars];
  let all: Vars[] = [{}];
  for (const [name, value] of Object.entries(vars)) {
    const values = Array.isArray(value) ? value : [value];
    if (all.length * values.length > MAX_COMBINATIONS) {
      throw new NotCarried(`its variables make more than ${MAX_COMBINATIONS} tests`);
    }
    all = all.flatMap((chosen) => values.map((each) => ({ ...chosen, [name]: each })));
  }
  return all;
}

type Carried = { readonly checks: unknown[]; readonly numbers: string[] };

async function carryChecks(combination: Combination): Promise<Carried> {
  const carried: Carried = { checks: [], numbers: [] };
  for (const [index, assertion] of combination.assertions.entries()) {
    const check = await carry(assertion, String(index), combination);
    if (check === undefined) continue;
    carried.checks.push(check);
    carried.numbers.push(String(index));
  }
  return carried;
}

/** One check or set of checks as ours, or nothing, and then it is named. */
async function carry(written: unknown, number: string, combination: Combination): Promise<unknown> {
  const { source, test, where } = combination;
  const leaveOut = (what: string, why: string, kind?: LeftOut['kind']) =>
    source.leaveOut({ where, what, why, test, check: number, ...defined({ kind }) });
  const assertion = withTemplate(written, combination.templates);
  const what = isObject(assertion) && typeof assertion.type === 'string' ? assertion.type : 'a check';
  try {
    if (!isObject(assertion)) throw new NotCarried('an assertion is an object');
    for (const key of Object.keys(assertion).filter((name) => !KNOWN_KEYS.includes(name))) {
      leaveOut(key, 'nothing here does it');
    }
    if (assertion.type === 'assert-set') return await carrySet(assertion, number, combination);
    const value = renderDeep(await source.resolve(assertion.value), combination.vars);
    const check = combination.carry.check({ ...assertion, value, vars: combination.vars });
    if (isCode(assertion)) leaveOut(what, 'evaluated here, as an expression', 'read');
    return check;
  } catch (error) {
    if (error instanceof LostVerdict) throw error;
    leaveOut(what, reasonOf(error), 'check');
    if (isObject(assertion) && isCode(assertion))
      throw new LostVerdict(`its verdict needs ${what}: ${reasonOf(error)}`);
    return undefined;
  }
}

/** Ends the test: without this check it would pass what it should fail. */
class LostVerdict extends NotCarried {}

const KNOWN_KEYS = ['type', 'value', 'threshold', 'weight', 'metric', 'transform', 'assert'];

async function carrySet(set: Assertion, number: string, combination: Combination): Promise<unknown> {
  const inner = Array.isArray(set.assert) ? set.assert : [];
  const checks: unknown[] = [];
  for (const [index, assertion] of inner.entries()) {
    const check = await carry(assertion, `${number}.${index}`, combination);
    if (check !== undefined) checks.push(check);
  }
  if (checks.length === 0) throw new NotCarried('none of its checks is carried');
  const { threshold, weight } = set;
  const settings = { ...(threshold == null ? {} : { threshold }), ...(weight == null ? {} : { weight }) };
  return combination.carry.set({ type: 'set', checks, ...settings });
}

const TEMPLATE = '#/assertionTemplates/';

function withTemplate(written: unknown, templates: Fields): unknown {
  if (!isObject(written) || typeof written.$ref !== 'string' || !written.$ref.startsWith(TEMPLATE)) return written;
  const { $ref, ...rest } = written;
  const template = templates[$ref.slice(TEMPLATE.length)];
  return isObject(template) ? { ...template, ...rest } : written;
}

type Held = {
  readonly assertions: readonly unknown[];
  /** The assertions before it hold by default for each test. */
  readonly ownFrom: number;
};

/** Throws where nothing is left by which a test could fail, other than what holds for each test. */
function requireOwn({ checks, numbers }: Carried, { assertions, ownFrom }: Held): void {
  if (checks.length === 0) throw new NotCarried('none of its checks is carried');
  const counts = checks.map((check) => isObject(check) && check.weight !== 0);
  if (!counts.includes(true)) throw new NotCarried('its checks have a weight of 0, so any answer passes');
  const hasOwn = numbers.some((number, index) => Number(number) >= ownFrom && counts[index]);
  if (ownFrom < assertions.length && !hasOwn) throw new NotCarried('of its own checks none is carried');
}

const EXPRESSION = /\{\{-?\s*([A-Za-z_$][\w$]*)/g;

/** The variables of a template that are empty. Throws for one that is missing: the model would be asked about nothing. */
function emptyVariables(template: string, vars: Assertion): string[] {
  const names = Array.from(template.matchAll(EXPRESSION), ([, name]) => name!);
  const used = [...new Set(names)].filter((name) => name !== 'env' && name !== 'process'); // said elsewhere
  const missing = used.find((name) => vars[name] == null);
  if (missing !== undefined) throw new NotCarried(`its prompt has {{${missing}}}, and no variable fills it`);
  return used.filter((name) => vars[name] === '');
}
