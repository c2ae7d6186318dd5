import { z } from 'zod';
import { jsonObjects } from './json-objects.ts';
import type { JudgeQuestion, JudgeReply } from './judge-question.ts';

type Verdict = { readonly said: JudgeReply } | { readonly problem: string };

/**
 * What a judge's reply says. A judge may quote what it reads, and an answer may hold a verdict on itself. Which of two is
 * the judge's own cannot be told from the text, so verdicts that differ are none.
 */
export function readVerdict(text: string, schema: JudgeQuestion['schema']): Verdict {
  const read = jsonObjects(text).map((object) => schema.safeParse(object));
  const verdicts = read.flatMap(({ data }) => data ?? []);
  const said = verdicts.at(-1);
  if (!said) return { problem: describe(read.at(-1)?.error ?? schema.safeParse(undefined).error) };
  if (verdicts.every(({ score }) => score === said.score)) return { said };
  return { problem: `It holds ${verdicts.length} JSON objects that do not say the same. Do not quote any.` };
}

function describe(error: z.ZodError | undefined): string {
  return error ? z.prettifyError(error).replaceAll('→ at', 'at') : '';
}
