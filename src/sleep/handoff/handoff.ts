import { createHash } from 'node:crypto';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { type ChatModel, type ChatRequest, noUsage, requireTexts, SkillError } from '../../core/contracts/index.ts';
import { fence, jsonCandidates, jsonText, parseJson, plural, rstrip, toCamelCase } from '../../core/text/index.ts';
import { repairJson } from '../../pipeline/index.ts';
import { makeFolderBelow, readPrivate, writePrivate } from '../../stores/index.ts';

const ROLES = ['target', 'optimizer', 'judge'] as const;
export type HandoffRole = (typeof ROLES)[number];

export type HandoffFiles = {
  readonly prompts: number;
  readonly byRole: Readonly<Partial<Record<HandoffRole, number>>>;
  readonly answersDir: string;
  readonly files: readonly string[];
};

export class HandoffPending extends SkillError {
  readonly files: HandoffFiles | undefined;

  constructor(files?: HandoffFiles) {
    const roles = Object.entries(files?.byRole ?? {}).map(([role, count]) => `${role} ${count}`);
    const hint = `Answer what stands in ${files?.files.join(' and ') ?? 'the files of the handoff'}, then resume the night.`;
    const what = files ? plural(files.prompts, 'question waits', 'questions wait') : 'some questions wait';
    super('ANSWER_PENDING', `${what} for an answer (${roles.join(', ')})`, { hint });
    this.files = files;
  }
}

type HandoffPlace = {
  readonly stateFolder: string;
  readonly folder: string;
  readonly redact: (text: string) => string;
};

/** A wave is over when no question has come for this long. */
const QUIET_MS = 40;

export const openHandoff = (): Handoff => new FileHandoff();

export type Handoff = Pick<FileHandoff, 'models' | 'open' | 'ask' | 'during' | 'pending' | 'close'>;

/** Models that are files: a question is written down, and an agent session, which is no process of ours, answers it. */
class FileHandoff {
  readonly models: Readonly<Record<HandoffRole, ChatModel>> = {
    target: this.#modelFor('target'),
    optimizer: this.#modelFor('optimizer'),
    judge: this.#modelFor('judge'),
  };
  readonly #waiting = new Map<string, Question>();
  #opened: HandoffPlace | undefined;
  #busy = 0;
  #lastAsked = 0;

  async open(place: HandoffPlace) {
    this.#opened = place;
    this.#waiting.clear();
    await makeFolderBelow(place.stateFolder, answersIn(place.folder));
  }

  /** The answer, if there is a usable one; otherwise the question waits. */
  async ask(role: HandoffRole, request: ChatRequest) {
    this.#lastAsked = performance.now();
    requireTexts(request.messages, 'a handoff');
    const id = questionId(role, request);
    const answer = rstrip((await readPrivate(join(answersIn(this.#place.folder), `${id}.md`))) ?? '');
    const problem = whyUnusable(answer, request);
    if (problem === undefined) return answer;
    this.#waiting.set(id, { id, role, request, problem });
    return undefined;
  }

  /** Keeps the wave of questions open while `work` runs, since it asks more of them. */
  during(work: Promise<unknown>) {
    this.#busy += 1;
    work.catch(() => undefined).finally(() => (this.#busy -= 1));
  }

  async pending() {
    return new HandoffPending(await writeQuestions([...this.#waiting.values()], this.#place));
  }

  /** The night is done: its questions and answers are kept under another name. */
  async close() {
    const { folder } = this.#place;
    await rm(`${folder}.done`, { recursive: true, force: true });
    await rename(folder, `${folder}.done`);
  }

  get #place() {
    if (this.#opened === undefined) throw new Error('a handoff was asked before its night began');
    return this.#opened;
  }

  #modelFor(role: HandoffRole): ChatModel {
    return {
      id: 'handoff',
      isFree: true,
      complete: async (request) => {
        const text = await this.ask(role, request);
        if (text !== undefined) return { text, usage: noUsage, finishReason: 'stop' };
        // The first failure stops a run: by then everything that it asks at the same time must have been asked.
        do await sleep(QUIET_MS);
        while (this.#busy > 0 || performance.now() - this.#lastAsked < QUIET_MS);
        throw new HandoffPending();
      },
    };
  }
}

const answersIn = (folder: string) => join(folder, 'answers');

/** Made from the request before redaction. Each draw is a question of its own. */
function questionId(role: HandoffRole, { messages, sampleIndex = 0 }: ChatRequest): string {
  const asked = [role, messages.map(({ role: speaker, content }) => [speaker, content]), sampleIndex];
  return createHash('sha256').update(JSON.stringify(asked)).digest('hex').slice(0, 16);
}

/** Why an answer must be asked for again; empty when there is none yet, `undefined` when it can be used. */
function whyUnusable(answer: string, { schema }: ChatRequest): string | undefined {
  if (answer.trim() === '') return '';
  if (schema === undefined) return undefined;
  const values = [...jsonCandidates(answer).map(parseJson), repairJson(answer)].filter((value) => value !== undefined);
  const read = values.map((value) => schema.safeParse(toCamelCase(value)));
  if (read.some(({ success }) => success)) return undefined;
  const { error } = read[0] ?? schema.safeParse(undefined);
  return `expected JSON as it is described: ${z.prettifyError(error!).replaceAll('→ at', 'at')}`;
}

type Question = {
  readonly id: string;
  readonly role: HandoffRole;
  readonly request: ChatRequest;
  /** What is wrong with the answer that is there; empty if there is none. */
  readonly problem: string;
};

/** For each role that is asked, a page for people and a list for programs. Files of other roles are removed. */
async function writeQuestions(questions: readonly Question[], { folder, redact }: HandoffPlace): Promise<HandoffFiles> {
  const answersDir = answersIn(folder);
  const byRole: Partial<Record<HandoffRole, number>> = {};
  const files: string[] = [];
  for (const role of ROLES) {
    const [page, list] = [join(folder, `${role}.md`), join(folder, `${role}.json`)];
    const asked = questions.filter((question) => question.role === role);
    if (asked.length === 0) {
      for (const file of [page, list]) await rm(file, { force: true });
      continue;
    }
    byRole[role] = asked.length;
    files.push(page);
    const pending = asked.map((question) => shownQuestion(question, answersDir, redact));
    await writePrivate(page, pageText(role, pending));
    const format = 'skillopt_sleep.handoff.v1';
    await writePrivate(list, `${jsonText({ format, role, answers_dir: answersDir, pending })}\n`);
  }
  return { prompts: questions.length, byRole, answersDir, files };
}

type ShownQuestion = ReturnType<typeof shownQuestion>;

function shownQuestion({ id, role, request, problem }: Question, answersDir: string, redact: (text: string) => string) {
  const messages = request.messages.map((message) => ({ role: message.role, content: redact(message.content) }));
  return {
    id,
    role,
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
    'Each is a task for an agent. The agent that answers one sees that question and nothing else: neither the other questions, nor their answers, nor the files of the judge.',
  optimizer:
    'Each asks what should be learned from attempts. Answer with the JSON that it describes, and nothing else.',
  judge:
    'Each asks how good an answer is, and may hold what a good one looks like: show this file to nobody who answers for the target. Answer with the JSON that it describes, and nothing else.',
};

const HOW = `Answer every question below, each in a fresh context, and write the answer alone into the file that is named with it. The same
question may stand here several times: each is a draw of its own, and is answered as if it were the only one. Then resume the night.`;

function pageText(role: HandoffRole, questions: readonly ShownQuestion[]): string {
  const parts = questions.map(({ id, answer_file, max_tokens, problem, messages }, index) =>
    [
      `## ${index + 1} of ${questions.length}: ${id}`,
      `Answer: ${answer_file}${max_tokens === null ? '' : `, at most ${max_tokens} tokens`}`,
      ...(problem === '' ? [] : [`The answer that is there cannot be used: ${problem}`]),
      ...messages.map(({ role: speaker, content }) => fence(speaker, content)),
    ].join('\n\n'),
  );
  return `${[`# Questions for the ${role}`, HOW, WHO[role], ...parts].join('\n\n')}\n`;
}
