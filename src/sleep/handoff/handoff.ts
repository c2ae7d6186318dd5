import { createHash } from 'node:crypto';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { type ChatModel, type ChatRequest, noUsage, SkillError } from '../../core/contracts/index.ts';
import { fence, jsonCandidates, jsonText, parseJson, rstrip, toCamelCase } from '../../core/text/index.ts';
import { repairJson } from '../../pipeline/index.ts';
import { makeFolderBelow, readPrivate, writePrivate } from '../../stores/index.ts';

/** What a night found that only a person's agent session can answer. */
export class HandoffPending extends SkillError {
  readonly files: HandoffFiles | undefined;

  constructor(files?: HandoffFiles) {
    const roles = Object.entries(files?.byRole ?? {}).map(([role, count]) => `${role} ${count}`);
    const hint = `Answer what stands in ${files?.files.join(' and ') ?? 'the files of the handoff'}, then resume the night.`;
    const what = files?.prompts === 1 ? '1 question waits' : `${files?.prompts ?? 'some'} questions wait`;
    super('ANSWER_PENDING', `${what} for an answer (${roles.join(', ')})`, { hint });
    this.files = files;
  }
}

/** Models that are files: a question is written down, and a session of an agent, which is no process of ours, answers it. */
export type Handoff = {
  readonly models: Readonly<Record<HandoffRole, ChatModel>>;
  /** Where the questions and answers of a night are: below the private state folder. */
  open(place: HandoffPlace): Promise<void>;
  /** The answer, if it is there and can be used; else the question is one of those that wait. */
  ask(role: HandoffRole, request: ChatRequest): Promise<string | undefined>;
  /** While such work runs, no question is given up: it finds more of them. */
  during(work: Promise<unknown>): void;
  /** Writes down what waits, in place of what waited before. */
  pending(): Promise<HandoffPending>;
  /** The night is done: its questions and answers are kept under another name. */
  close(): Promise<void>;
};

type HandoffPlace = {
  readonly stateFolder: string;
  readonly folder: string;
  readonly redact: (text: string) => string;
};

/** In the folder of a night. */
export const HANDOFF_FOLDER = 'handoff';

/** So long without a new question, a wave is over. */
const QUIET_MS = 40;

export function openHandoff(): Handoff {
  const waiting = new Map<string, Question>();
  let place: HandoffPlace | undefined;
  let busy = 0;
  let lastAsked = 0;

  const placeOrThrow = () => {
    if (place === undefined) throw new Error('a handoff was asked before its night began');
    return place;
  };
  const ask: Handoff['ask'] = async (role, request) => {
    lastAsked = performance.now();
    const id = questionId(role, request);
    const answer = rstrip((await readPrivate(join(answersIn(placeOrThrow().folder), `${id}.md`))) ?? '');
    const problem = whyUnusable(answer, request);
    if (problem === undefined) return answer;
    waiting.set(id, { id, role, request, problem });
    return undefined;
  };
  /** The first failure stops a run. Until then all that it asks at the same time has been asked. */
  const waveEnds = async () => {
    do await sleep(QUIET_MS);
    while (busy > 0 || performance.now() - lastAsked < QUIET_MS);
  };
  const modelFor = (role: HandoffRole): ChatModel => ({
    id: 'handoff',
    isFree: true,
    async complete(request) {
      const text = await ask(role, request);
      if (text !== undefined) return { text, usage: noUsage, finishReason: 'stop' };
      await waveEnds();
      throw new HandoffPending();
    },
  });
  return {
    models: { target: modelFor('target'), optimizer: modelFor('optimizer'), judge: modelFor('judge') },
    ask,
    async open(given) {
      place = given;
      waiting.clear();
      await makeFolderBelow(given.stateFolder, answersIn(given.folder));
    },
    during(work) {
      busy += 1;
      work.catch(() => undefined).finally(() => (busy -= 1));
    },
    async pending() {
      const { folder, redact } = placeOrThrow();
      return new HandoffPending(await writeQuestions([...waiting.values()], folder, redact));
    },
    async close() {
      const { folder } = placeOrThrow();
      await rm(`${folder}.done`, { recursive: true, force: true });
      await rename(folder, `${folder}.done`);
    },
  };
}

const answersIn = (folder: string) => join(folder, 'answers');

/** Of what is asked, before anything is hidden in it. Draws are different questions. */
function questionId(role: HandoffRole, { messages, sampleIndex = 0 }: ChatRequest): string {
  const asked = [role, messages.map(({ role: speaker, content }) => [speaker, content]), sampleIndex];
  return createHash('sha256').update(JSON.stringify(asked)).digest('hex').slice(0, 16);
}

export type HandoffRole = 'target' | 'optimizer' | 'judge';
const ROLES: readonly HandoffRole[] = ['target', 'optimizer', 'judge'];

/** A question that waits, and what is wrong with the answer that is there; empty if there is none. */
type Question = {
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
async function writeQuestions(
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
function whyUnusable(answer: string, { schema }: Pick<ChatRequest, 'schema'>): string | undefined {
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
