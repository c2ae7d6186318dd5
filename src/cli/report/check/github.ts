import { randomUUID } from 'node:crypto';
import { appendFile } from 'node:fs/promises';
import { SkillError } from '../../../core/contracts/index.ts';
import { oneLine } from '../../../core/text/index.ts';
import type { Io } from '../../terminal/io.ts';
import { type EvalReport, tasksOf } from '../eval-report.ts';
import { checkSentences } from './check-words.ts';

/** A page for the log of a workflow, with the verdict as an annotation. In a page commands are off: it holds foreign text. */
export function githubLines(report: EvalReport, page: string): string[] {
  const { check, baseline, scored } = report;
  const level = check.isPassed ? 'notice' : 'error';
  const sentences = checkSentences(check, tasksOf(report), baseline?.document);
  const end = randomUUID();
  return [
    `::stop-commands::${end}`,
    ...page.trimEnd().split('\n'),
    `::${end}::`,
    ...sentences.slice(0, 1).map(({ head, text }) => annotation(level, scored.document, `${head}: ${text}`)),
  ];
}

/** What stopped a measurement, as an annotation. */
export const githubError = (document: string, message: string) =>
  annotation('error', document, `Not measured: ${message}`);

const annotation = (level: string, document: string, message: string) =>
  `::${level} title=${property(`skillopt: ${document}`)}::${data(message)}`;

const data = (text: string) => oneLine(text).replaceAll('%', '%25');
const property = (text: string) => data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');

/** Adds a page to the summary of the workflow's step, where there is one. */
export async function addStepSummary(page: string, { env }: Pick<Io, 'env'>): Promise<void> {
  const path = env.GITHUB_STEP_SUMMARY;
  if (!path) return;
  await appendFile(path, `${page}\n`).catch((cause: Error) => {
    const hint = 'Unset GITHUB_STEP_SUMMARY, or name a file that can be written.';
    throw new SkillError('USAGE', `the step summary cannot be written: ${cause.message}`, { cause, hint });
  });
}
