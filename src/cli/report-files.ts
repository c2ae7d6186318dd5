import { existsSync } from 'node:fs';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { SkillError } from '../core/contracts/index.ts';
import { bucketsText } from '../core/run/index.ts';
import { isObject, parseJson, toSnakeCase } from '../core/text/index.ts';
import { resolvePath } from '../project/index.ts';
import {
  type CompareReport,
  checkMarkdown,
  type EvalReport,
  evalValue,
  type JUnitMetric,
  junitText,
  type SkillScore,
  summaryOf,
} from '../report/index.ts';
import { makeFolder } from '../stores/index.ts';
import type { OptionalFlags } from './run-command.ts';
import type { Terminal } from './terminal/terminal.ts';

export type ReportFlags = OptionalFlags<'out' | 'junit'>;

/** Opens the files of a report, so that a wrong path is found before anything is paid for. */
export async function openReportFiles({ out, junit }: ReportFlags, cwd: string) {
  const directory = out === undefined ? undefined : await openFolder(resolvePath(cwd, out), `--out ${out}`);
  if (directory !== undefined) await refuseForeignReport(directory, `--out ${out}`);
  const file = junit === undefined ? undefined : resolvePath(cwd, junit);
  if (file !== undefined) await openFile(file, `--junit ${junit}`);
  return {
    directory,
    async write(report: EvalReport, metric: JUnitMetric): Promise<void> {
      if (file !== undefined) await writeFile(file, junitText(report, metric));
      if (directory !== undefined) await writeReport(directory, report);
    },
  };
}

/** It is not needed: where the page was not built, a note says so. */
export async function writeComparisonPage(
  report: CompareReport | undefined,
  folder: string | undefined,
  { note }: Terminal,
) {
  if (report === undefined || folder === undefined) return;
  const { writeComparison } = await import('../server/index.ts');
  const why = ({ message }: Error) => note(`there is no report.html: ${message}`);
  await writeComparison(report, join(folder, 'report.html')).catch(why);
}

async function openFolder(path: string, shown: string): Promise<string> {
  const hint = 'Name a folder that is not there yet, or one that you may write into.';
  await makeFolder(path).catch(unwritable(shown, hint));
  return path;
}

export const unwritable = (shown: string, hint: string) => (cause: Error) => {
  throw new SkillError('USAGE', `${shown} cannot be written: ${cause.message}`, { cause, hint });
};

const SCORE_FILES = ['results.json', 'summary.json', 'buckets.json'];
const REPORT_FILES = [...SCORE_FILES, 'eval.json', 'report.md', 'report.html'];

/** Without our eval.json beside them, files with these names are somebody else's; and so is whatever else lies in folders of splits. */
async function refuseForeignReport(directory: string, shown: string): Promise<void> {
  const before = parseJson(await readFile(join(directory, 'eval.json'), 'utf8').catch(() => ''));
  const isOurs = isObject(before) && 'verdict' in before;
  const mine = isOurs ? [] : REPORT_FILES.filter((name) => existsSync(join(directory, name)));
  for (const split of ['train', 'val', 'test']) {
    const names = await readdir(join(directory, split)).catch((): string[] => []);
    mine.push(...names.filter((name) => !isOurs || !SCORE_FILES.includes(name)).map((name) => join(split, name)));
  }
  if (mine[0] === undefined) return;
  const hint = 'Name another folder, or move it away.';
  throw new SkillError('USAGE', `${shown} has a ${mine[0]} already, which is not of this command`, { hint });
}

/** Overwrites nothing but an earlier report: a typing error would cost the tasks or the skill. */
async function openFile(path: string, shown: string): Promise<void> {
  const text = (await readFile(path, 'utf8').catch(() => '')).trimStart();
  if (text !== '' && !/^(?:<\?xml[^>]*>\s*)?<testsuites?[\s>]/.test(text)) {
    const hint = 'Name a file that is not there yet, or an earlier JUnit report.';
    throw new SkillError('USAGE', `${shown} is there already, and is no JUnit report`, { hint });
  }
  await openFolder(dirname(path), shown);
  const isNew = !existsSync(path);
  await writeFile(path, '', { flag: 'a' }).catch(unwritable(shown, 'Name a file that you may write.'));
  if (isNew) await rm(path); // an empty one would be no XML, if nothing came of the measurement
}

/** All tasks together, and where there are several splits each in a folder of its own. */
async function writeReport(directory: string, report: EvalReport): Promise<void> {
  await writeScore(directory, report.scored.whole);
  await writeFile(join(directory, 'eval.json'), `${JSON.stringify(evalValue(report), null, 2)}\n`);
  await writeFile(join(directory, 'report.md'), checkMarkdown(report));
  const parts = Object.entries(report.scored.splits);
  if (parts.length === 1) return;
  for (const [name, score] of parts) {
    await makeFolder(join(directory, name));
    await writeScore(join(directory, name), score);
  }
}

async function writeScore(directory: string, score: SkillScore): Promise<void> {
  const files = { results: score.results, summary: summaryOf(score) };
  const types = Object.keys(score.buckets).filter((type) => type !== 'overall');
  for (const [name, value] of Object.entries(files)) {
    await writeFile(join(directory, `${name}.json`), `${JSON.stringify(toSnakeCase(value), null, 2)}\n`);
  }
  await writeFile(join(directory, 'buckets.json'), bucketsText(score.evaluation.scores, types));
}
