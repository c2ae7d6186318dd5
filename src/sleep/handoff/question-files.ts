import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { ChatRequest } from '../../core/contracts/index.ts';
import { fence, jsonCandidates, jsonText, parseJson, toCamelCase } from '../../core/text/index.ts';
import { repairJson } from '../../pipeline/index.ts';
import { writePrivate } from '../../stores/index.ts';

export type HandoffRole = 'target' | 'optimizer' | 'judge';
const ROLES: readonly HandoffRole[] = ['target', 'optimizer', 'judge'];

/** A question that waits, and what is wrong with the answer that is there; empty if there is none. */
export type Question = {
  readonly id: string;
  readonly role: HandoffRole;
  readonly request: ChatRequest;
  readonly problem: string;
};

/** What waits, as commands tell it. */
export type HandoffFiles = {
  readonly prompts: number;
  readonly byRole: Readonly<Partial<Record<HandoffRole, number>>>;
  readonly answersDir: string;
  readonly files: readonly string[];
};

const FORMAT = 'skillopt_sleep.handoff.v1';

/** A file for people and one for programs of each role that is asked. Of the others nothing stays. */
export async function writeQuestions(
  questions: readonly Question[],
  folder: string,
  redact: (text: string) => string,
): Promise<HandoffFiles> {
  const answersDir = join(folder, 'answers');
  const byRole: Partial<Record<HandoffRole, number>> = {};
  const files: string[] = [];
  for (const role of ROLES) {
    const [page, list] = [join(folder, `${role}.md`), join(folder, `${role}.json`)];
    const asked = questions.filter((question) => question.role === role);
    const shown = asked.map((question) => shownQuestion(question, answersDir, redact));
    if (shown.length === 0) {
      for (const file of [page, list]) await rm(file, { force: true });
      continue;
    }
    byRole[role] = shown.length;
    files.push(page);
    await writePrivate(page, pageText(role, shown));
    await writePrivate(list, `${jsonText({ format: FORMAT, role, answers_dir: answersDir, pending: shown })}\n`);
  }
  return { prompts: questions.length, byRole, answersDir, files };
}

/** Why an answer must be asked for again; empty when there is none yet, `undefined` when it can be used. */
export function whyUnusable(answer: string, { schema }: Pick<ChatRequest, 'schema'>): string | undefined {
  if (answer.trim() === '') return '';
  if (schema === undefined) return undefined;
  const values = [...jsonCandidates(answer).map(parseJson), repairJson(answer)].filter((value) => value !== undefined);
  const read = values.map((value) => schema.safeParse(toCamelCase(value)));
  if (read.some(({ success }) => success)) return undefined;
  const { error } = read[0] ?? schema.safeParse(undefined);
  return `expected JSON as it is described: ${z.prettifyError(error!).replaceAll('→ at', 'at')}`;
}

type Shown = ReturnType<typeof shownQuestion>;

function shownQuestion({ id, role, request, problem }: Question, answersDir: string, redact: (text: string) => string) {
  const messages = request.messages.map((message) => ({ role: message.role, content: redact(message.content) }));
  return {
    id,
    role,
    /** Equal prompts with other draws are asked to see how much answers differ. */
    draw: request.sampleIndex ?? 0,
    answer_file: join(answersDir, `${id}.md`),
    max_tokens: request.maxOutputTokens ?? null,
    problem: redact(problem),
    prompt: messages.map(({ content }) => content).join('\n\n'),
    messages,
  };
}

const WHO: Readonly<Record<HandoffRole, string>> = {
  target:
    'Each is a task for an agent. Whoever answers one sees that question and nothing else: neither the other questions, nor their answers, nor the files of the judge.',
  optimizer:
    'Each asks what should be learned from attempts. Answer with the JSON that it describes, and nothing else.',
  judge:
    'Each asks how good an answer is, and may hold what a good one looks like: show this file to nobody who answers for the target. Answer with the JSON that it describes, and nothing else.',
};

const HOW = `Answer every question below, each in a fresh context, and write the answer alone into the file that is named with it. The same
question may stand here several times: each is a draw of its own, and is answered as if it were the only one. Then resume the night.`;

function pageText(role: HandoffRole, questions: readonly Shown[]): string {
  const parts = questions.map((question, index) => {
    const limit = question.max_tokens === null ? '' : `, at most ${question.max_tokens} tokens`;
    return [
      `## ${index + 1} of ${questions.length}: ${question.id}`,
      `Answer: ${question.answer_file}${limit}`,
      ...(question.problem === '' ? [] : [`The answer that is there cannot be used: ${question.problem}`]),
      ...question.messages.map(({ role: speaker, content }) => fence(speaker, content)),
    ].join('\n\n');
  });
  return `${[`# Questions for the ${role}`, HOW, WHO[role], ...parts].join('\n\n')}\n`;
}
