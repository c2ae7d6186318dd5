import { resolve } from 'node:path';
import { isObject } from '../../../core/text/index.ts';
import {
  type Fields,
  importPromptfoo,
  type LeftOut,
  NotCarried,
  type Row,
  reasonOf,
  type TestRow,
} from '../../../envs/index.ts';
import type { WorkspaceTaskInput } from '../../workspace/workspace-task.ts';
import { type ImportedWork, withOwnIds } from '../imported-work.ts';
import { carryForWork, type Statement, statementsOf, type WorkCheck } from './work-check.ts';

/** A config whose tests an agent is to pass: checks are about its last words, its skills and its cost, rubrics about its work. */
export async function importPromptfooWork(config: Fields, path: string): Promise<ImportedWork> {
  const { rows, leftOut } = await importPromptfoo(config, path, carryForWork);
  const named: LeftOut[] = [...leftOut];
  const folder = workingFolder(config, named);
  const tasks = rows.flatMap((row) => toTask(row, named).map((value) => ({ value, where: row.where })));
  const placed = tasks.map(({ value, where }) => ({ where, value: { ...value, ...folder } }));
  return { format: 'promptfoo', rows: withOwnIds(placed), leftOut: named };
}

type Judged = {
  readonly question: string;
  readonly judge: { readonly checks: WorkCheck[]; readonly threshold?: number };
};

function toTask(row: Row & TestRow, named: LeftOut[]): WorkspaceTaskInput[] {
  const { question, judge } = row.value as Judged;
  const leaveOut = (what: string, why: string, check?: string) =>
    void named.push({ where: row.where, what, why, test: row.test, ...(check === undefined ? {} : { check }) });
  if (judge.threshold !== undefined) leaveOut('threshold', 'all checks of a task in a workspace must hold');
  const statements = judge.checks.flatMap((check, index) => statementsIn(check, row.checks[index]!, leaveOut));
  if (statements.length === 0) return leaveOut('the test', 'none of its checks is carried') ?? [];
  const assertions = statements.flatMap((one) => ('assertion' in one ? [one.assertion] : []));
  const rubric = statements.flatMap((one) => ('rubric' in one ? [one.rubric] : []));
  return [{ id: row.test, prompt: question, assertions, ...(rubric.length === 0 ? {} : { rubric }) }];
}

function statementsIn(
  check: WorkCheck,
  number: string,
  leaveOut: (what: string, why: string, check: string) => void,
): readonly Statement[] {
  const { weight, threshold } = check;
  try {
    if (weight === 0) throw new NotCarried('with a weight of 0 it cannot fail');
    const statements = statementsOf(check);
    if (weight !== undefined && weight !== 1) leaveOut('weight', 'every check counts the same', number);
    if (threshold !== undefined && check.type === 'rubric')
      leaveOut('threshold', 'a statement holds or does not', number);
    return statements;
  } catch (error) {
    leaveOut(check.type, reasonOf(error), number);
    return [];
  }
}

/** The folder that all providers work in; each task gets a copy of its own. */
function workingFolder({ providers, targets }: Fields, named: LeftOut[]): { from?: string } {
  const list = [providers ?? targets ?? []].flat() as unknown[];
  const folders = list.flatMap((one) => {
    const config = isObject(one) && isObject(one.config) ? one.config : {};
    return typeof config.working_dir === 'string' ? [config.working_dir] : [];
  });
  const [folder, ...others] = [...new Set(folders)];
  if (folder === undefined) return {};
  if (others.length === 0 && resolve('/', folder) !== folder) return { from: folder.replace(/^\.\//, '') };
  const why = others.length > 0 ? 'providers name different ones' : 'it does not lie beside the config';
  named.push({ where: 'providers', what: 'working_dir', why });
  return {};
}
