import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { SkillError } from '../../../core/errors.ts';
import { bucketsText } from '../../../core/run/views/views.ts';
import { toSnakeCase } from '../../../core/text/snake-case.ts';
import { resolvePath } from '../../../project/resolve-path.ts';
import type { SkillScore } from '../../../train/index.ts';
import { type EvalReport, evalValue, summaryOf } from '../eval-report.ts';
import { checkMarkdown } from './check-markdown.ts';
import { type JUnitMetric, junitText } from './junit.ts';

type Places = { readonly out: string | undefined; readonly junit: string | undefined };

/** Where a report is to be written. Known to be writable before anything is paid for. */
export async function openReportFiles({ out, junit }: Places, cwd: string) {
  const directory = out === undefined ? undefined : await openFolder(resolvePath(cwd, out), `--out ${out}`);
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
  await mkdir(path, { recursive: true }).catch((cause: Error) => {
    const hint = 'Name a folder that is not there yet, or one that you may write into.';
    throw new SkillError('USAGE', `${shown} cannot be written: ${cause.message}`, { cause, hint });
  });
  return path;
}

async function openFile(path: string, shown: string): Promise<void> {
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
    await mkdir(join(directory, name), { recursive: true });
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
