import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { CheckSet, SingleCheck } from '../../../src/core/judge/checks.ts';
import { type ChecksJudge, checksJudge } from '../../../src/core/judge/index.ts';
import { importPromptfoo } from '../../../src/imports/promptfoo/import-promptfoo.ts';
import { importFiles, importPath, type promptfooExpectations } from './import-corpus.ts';

type Expectation = ReturnType<typeof promptfooExpectations>[number];
type Imported = Awaited<ReturnType<typeof importPromptfoo>>;
type Met = 'met' | 'named';

const files = importFiles('promptfoo');
const imported = new Map<string, Imported>();
for (const file of files) {
  const path = importPath('promptfoo', file);
  imported.set(file, await importPromptfoo(parse(readFileSync(path, 'utf8')), path));
}

/** Without a model. `undefined`: a check could not be decided. */
async function scoreBy(judge: ChecksJudge, answer: string) {
  const scored = await checksJudge(undefined).score({ judge, question: '', answer });
  return scored.errored ? undefined : scored;
}

const rowsOf = ({ file, test: name, vars = {} }: Expectation) =>
  imported
    .get(file)!
    .rows.filter((row) => row.test === name && Object.entries(vars).every(([key, value]) => row.vars[key] === value));
const judgeOf = (row: Imported['rows'][number]) => (row.value as { judge: ChecksJudge }).judge;

/** The check with this number, or nothing where it is not carried. */
function checkOf(expectation: Expectation & { readonly assertion: string }): SingleCheck | CheckSet | undefined {
  const [number, inner] = expectation.assertion.split('.');
  const [row] = rowsOf(expectation);
  const check = row && judgeOf(row).checks[row.checks.indexOf(number!)];
  return inner === undefined ? check : (check as CheckSet | undefined)?.checks[Number(inner)];
}

/** Whether it is said that the check, or the test as a whole, is left out. */
const isNamed = ({ file, test: name, ...rest }: Expectation) =>
  imported.get(file)!.leftOut.some((left) => {
    if (left.what === name) return true;
    const assertion = 'assertion' in rest ? rest.assertion : undefined;
    return left.test === name && (left.check === undefined ? left.what === 'the test' : left.check === assertion);
  });

/** Whether the test as a whole is left out: it lost what makes its verdict. */
const isLeftOut = ({ file, test: name }: Expectation) =>
  imported.get(file)!.leftOut.some((left) => left.test === name && left.kind === 'task');

/** `met`, `named` as not carried, or what is wrong. */
export async function meets(expectation: Expectation): Promise<Met | string> {
  if ('carried' in expectation && expectation.carried === false) {
    const isGone = expectation.assertion === undefined || checkOf(expectation as never) === undefined;
    return isGone && isNamed(expectation) ? 'named' : 'it is carried, or not named';
  }
  if ('alsoNamed' in expectation && expectation.alsoNamed !== undefined) {
    const { file, alsoNamed } = expectation;
    if (!imported.get(file)!.leftOut.some(({ what }) => what === alsoNamed)) return `${alsoNamed} is not named`;
  }
  const isAllowed = expectation.mayBeLeftOut === true && isNamed(expectation);
  if ('asks' in expectation) {
    const asked = rowsOf(expectation).map(({ value }) => (value as { question: string }).question);
    if (isAllowed && asked.length === 0) return 'named';
    return JSON.stringify(asked) === JSON.stringify(expectation.asks) ? 'met' : `it asks ${JSON.stringify(asked)}`;
  }
  return 'carried' in expectation ? meetsCriterion(expectation, isAllowed) : meetsVerdict(expectation, isAllowed);
}

function meetsCriterion(expectation: Extract<Expectation, { carried: 'judge' }>, isAllowed: boolean): Met | string {
  const check = checkOf(expectation);
  if (check === undefined) return isAllowed ? 'named' : 'it is not carried';
  const { criterion: value, negated, threshold, weight } = expectation;
  const wanted = { value, ...(negated && { not: true }), ...(threshold && { threshold }), ...(weight && { weight }) };
  return Object.entries(wanted).every(([key, part]) => (check as Record<string, unknown>)[key] === part)
    ? 'met'
    : JSON.stringify(check);
}

async function meetsVerdict(
  expectation: Exclude<Expectation, { carried: unknown } | { asks: unknown }>,
  isAllowed: boolean,
): Promise<Met | string> {
  const { output, assertion, expected, score } = expectation;
  const [row] = rowsOf(expectation);
  if (row === undefined && isLeftOut(expectation)) return 'named';
  if (assertion === 'test') {
    const scored = row && (await scoreBy(judgeOf(row), output!));
    const isSame = scored?.hard === (expected === 'pass' ? 1 : 0) && Math.abs(scored.soft - score!) < 0.001;
    return isSame ? 'met' : `it is ${JSON.stringify(scored)}`;
  }
  const check = checkOf(expectation);
  if (check === undefined) return isAllowed ? 'named' : 'it is not carried';
  if (output === undefined) return 'it is carried, and nothing here knows about it';
  const scored = await scoreBy({ kind: 'checks', checks: [check] }, output);
  return scored?.hard === (expected === 'pass' ? 1 : 0) ? 'met' : `it is ${JSON.stringify(scored)}`;
}
