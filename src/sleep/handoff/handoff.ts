import { createHash } from 'node:crypto';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ChatModel, type ChatRequest, noUsage, SkillError } from '../../core/contracts/index.ts';
import { rstrip } from '../../core/text/index.ts';
import { makeFolderBelow, readPrivate } from '../../stores/index.ts';
import { type HandoffFiles, type HandoffRole, type Question, whyUnusable, writeQuestions } from './question-files.ts';

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
