import { existsSync } from 'node:fs';
import { appendFile, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { SkillError } from '../core/contracts/index.ts';
import { bucketsText } from '../core/run/index.ts';
import { toSnakeCase } from '../core/text/index.ts';
import { resolvePath } from '../project/index.ts';
import { checkMarkdown, type EvalReport, evalValue, type JUnitMetric, junitText, summaryOf } from '../report/index.ts';
import { makeFolder } from '../stores/index.ts';
import type { SkillScore } from '../train/index.ts';
import type { Io } from './terminal/terminal.ts';

type Places = { readonly out: string | undefined; readonly junit: string | undefined };

/** Opens the files of a report, so that a wrong path is found before anything is paid for. */
export async function openReportFiles({ out, junit }: Places, cwd: string) {
  const directory = out === undefined ? undefined : await openFolder(resolvePath(cwd, out), `--out ${out}`);
  if (directory !== undefined) refuseForeignReport(directory, `--out ${out}`);
  const file = junit === undefined ? undefined : resolvePath(cwd, junit);
  if (file !== undefined) await openFile(file, `--junit ${junit}`);
  return {
    async write(report: EvalReport, metric: JUnitMetric): Promise<void> {
      if (file !== undefined) await writeFile(file, junitText(report, metric));
      if (directory !== undefined) await writeReport(directory, report);
    },
  };
}

async function openFolder(path: string, shown: string): Promise<string> {
  await makeFolder(path).catch((cause: Error) => {
    const hint = 'Name a folder that is not there yet, or one that you may write into.';
    throw new SkillError('USAGE', `${shown} cannot be written: ${cause.message}`, { cause, hint });
  });
  return path;
}

/** A report.md without eval.json beside it is not ours. */
function refuseForeignReport(directory: string, shown: string): void {
  if (!existsSync(join(directory, 'report.md')) || existsSync(join(directory, 'eval.json'))) return;
  const hint = 'Name another folder, or move that file away.';
  throw new SkillError('USAGE', `${shown} has a report.md already, which is not of this command`, { hint });
}

/** Overwrites nothing but an earlier report: a typing error would cost the tasks or the skill. */
async function refuseForeignFile(path: string, shown: string): Promise<void> {
  const text = (await readFile(path, 'utf8').catch(() => '')).trimStart();
  if (text === '' || /^(?:<\?xml[^>]*>\s*)?<testsuites?[\s>]/.test(text)) return;
  const hint = 'Name a file that is not there yet, or an earlier JUnit report.';
  throw new SkillError('USAGE', `${shown} is there already, and is no JUnit report`, { hint });
}

async function openFile(path: string, shown: string): Promise<void> {
  await refuseForeignFile(path, shown);
  await openFolder(dirname(path), shown);
  const isNew = !existsSync(path);
  await writeFile(path, '', { flag: 'a' }).catch((cause: Error) => {
    const hint = 'Name a file that you may write.';
    throw new SkillError('USAGE', `${shown} cannot be written: ${cause.message}`, { cause, hint });
  });
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

export async function addStepSummary(page: string, { env }: Pick<Io, 'env'>): Promise<void> {
  const path = env.GITHUB_STEP_SUMMARY;
  if (!path) return;
  await appendFile(path, `${page}\n`).catch((cause: Error) => {
    const hint = 'Unset GITHUB_STEP_SUMMARY, or name a file that can be written.';
    throw new SkillError('USAGE', `the step summary cannot be written: ${cause.message}`, { cause, hint });
  });
}
