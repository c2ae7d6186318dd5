import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import { parseJson } from '../core/text/index.ts';
import { untilAborted } from '../models/index.ts';
import { type AwayServer, keyOf, type QueueServer } from './redis.ts';
import { decodeError, encodeError, WireError } from './wire.ts';

type Exchange = Readonly<Record<string, readonly [unknown, unknown]>>;

/** Answers one kind of question of another process, whose address is `from`. */
export type Answers<Asked extends Exchange> = {
  readonly [Kind in keyof Asked]: (body: Asked[Kind][0], from: string) => Promise<Asked[Kind][1]>;
};

export interface Post<Asks extends Exchange> {
  /** Under which others reach this process. */
  readonly address: string;
  /** Asks until an answer comes, also while the server is away. Throws what the other side threw, or the signal's reason. */
  ask<Kind extends keyof Asks & string>(
    to: string,
    kind: Kind,
    body: Asks[Kind][0],
    signal?: AbortSignal,
  ): Promise<Asks[Kind][1]>;
  /** The same where no answer matters. Reminders stop after a minute. */
  tell<Kind extends keyof Asks & string>(to: string, kind: Kind, body: Asks[Kind][0]): void;
  close(): void;
}

/** Checked, since others may write to the server too. */
const Letter = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ask'), id: z.string(), from: z.string(), kind: z.string(), body: z.unknown() }),
  /** Whether the question has arrived: one may be lost when the server ends. */
  z.object({ type: z.literal('remind'), id: z.string(), from: z.string() }),
  z.object({ type: z.literal('repeat'), id: z.string() }),
  z.object({ type: z.literal('answer'), id: z.string(), value: z.unknown().optional(), error: WireError.optional() }),
]);
type Letter = z.infer<typeof Letter>;

const REMIND_MS = 5_000;
/** How long an answer is kept to be sent again: the server may be away for a minute. */
const KEPT_MS = 60_000;
/** Letters that nobody fetches go away. */
const EXPIRE_S = 3_600;

/** Questions and answers between processes over lists of the server. Each question is handled once, and none is lost. */
export async function openPost<Asks extends Exchange, Asked extends Exchange>(
  server: QueueServer,
  answers: Answers<Asked>,
  heard: AwayServer,
): Promise<Post<Asks>> {
  const address = randomUUID();
  const [out, into] = [await server.connect(heard), await server.connect()];
  const send = sender(out);
  const [asking, answering] = [askingSide<Asks>(address, send), answeringSide(answers, send)];
  const take = (letter: Letter) => {
    if (letter.type === 'ask') void answering.handle(letter);
    else if (letter.type === 'remind') answering.remind(letter);
    else if (letter.type === 'answer') asking.settle(letter);
    else asking.repeat(letter);
  };
  const receiving = { isOver: false };
  receive(into, keyOf('post', address), receiving, take);
  const { ask } = asking;
  return {
    ...{ address, ask },
    tell: (to, kind, body) => void ask(to, kind, body, AbortSignal.timeout(KEPT_MS)).catch(() => undefined),
    close() {
      receiving.isOver = true;
      asking.close();
      answering.close();
      into.disconnect();
      void out.quit().catch(() => undefined);
    },
  };
}

type Send = (to: string, letter: Letter) => void;
type LetterOf<Type extends Letter['type']> = Extract<Letter, { type: Type }>;
type Question = { readonly to: string; readonly letter: Letter; settle(answer: LetterOf<'answer'>): void };

/** The questions of this process that are not answered yet. Others are reminded of them. */
function askingSide<Asks extends Exchange>(address: string, send: Send) {
  const asked = new Map<string, Question>();
  const reminding = setInterval(() => {
    for (const [id, { to }] of asked) send(to, { type: 'remind', id, from: address });
  }, REMIND_MS).unref();
  const ask: Post<Asks>['ask'] = async (to, kind, body, signal) => {
    signal?.throwIfAborted();
    const id = randomUUID();
    const letter = { type: 'ask', id, from: address, kind, body } as const;
    const answering = new Promise<unknown>((resolve, reject) => {
      const settle: Question['settle'] = ({ value, error }) => (error ? reject(decodeError(error)) : resolve(value));
      asked.set(id, { to, letter, settle });
    });
    send(to, letter);
    return untilAborted(answering, signal).finally(() => asked.delete(id)) as never;
  };
  return {
    ask,
    settle: (answer: LetterOf<'answer'>) => asked.get(answer.id)?.settle(answer),
    repeat({ id }: LetterOf<'repeat'>): void {
      const question = asked.get(id);
      if (question) send(question.to, question.letter);
    },
    close: () => clearInterval(reminding),
  };
}

/** The questions of others, each of which is handled once, and the answers to them. */
function answeringSide<Asked extends Exchange>(answers: Answers<Asked>, send: Send) {
  const underWay = new Set<string>();
  const answered = keepFor<Letter>(KEPT_MS);
  return {
    async handle({ id, from, kind, body }: LetterOf<'ask'>): Promise<void> {
      if (underWay.has(id) || answered.get(id)) return;
      underWay.add(id);
      const answer: Letter = await Promise.resolve()
        .then(() => {
          if (!Object.hasOwn(answers, kind)) throw new Error(`nobody answers ${JSON.stringify(kind)} here`);
          return answers[kind]!(body as never, from);
        })
        .then(
          (value) => ({ type: 'answer', id, value }) as const,
          (error) => ({ type: 'answer', id, error: encodeError(error) }) as const,
        );
      // A reply of a model is kept with its attempt, and would be answered from there again. Kept here too, they fill the memory.
      if (kind !== 'call') answered.set(id, answer);
      underWay.delete(id);
      send(from, answer);
    },
    remind({ id, from }: LetterOf<'remind'>): void {
      if (!underWay.has(id)) send(from, answered.get(id) ?? { type: 'repeat', id });
    },
    close: answered.close,
  };
}

/** Forgets a value after `ms` at the earliest and twice that at the latest: a timer for each would fill the memory. */
function keepFor<Value>(ms: number) {
  let [young, old] = [new Map<string, Value>(), new Map<string, Value>()];
  const ageing = setInterval(() => {
    [young, old] = [new Map(), young];
  }, ms).unref();
  return {
    get: (key: string) => young.get(key) ?? old.get(key),
    set: (key: string, value: Value) => void young.set(key, value),
    close: () => clearInterval(ageing),
  };
}

/** Sends what is written in one turn of the event loop together: a write to a socket costs more than what it carries. */
function sender(redis: Redis): Send {
  const boxes = new Map<string, string[]>();
  const flush = () => {
    const batch = redis.pipeline();
    // Each time: a list that was read empty is a new one, which would never go away.
    for (const [box, texts] of boxes) batch.rpush(box, ...texts).expire(box, EXPIRE_S);
    boxes.clear();
    batch.exec().catch(() => undefined); // what is lost is asked again
  };
  return (to, letter) => {
    if (boxes.size === 0) setImmediate(flush);
    const box = keyOf('post', to);
    boxes.set(box, [...(boxes.get(box) ?? []), JSON.stringify(letter)]);
  };
}

const MOST_AT_ONCE = 500;

async function receive(
  redis: Redis,
  box: string,
  state: { readonly isOver: boolean },
  take: (letter: Letter) => void,
): Promise<void> {
  while (!state.isOver) {
    try {
      // The second command waits on the server until the first has its letter: one message each way for all of them.
      const [[error, popped] = [], [, rest] = []] =
        (await redis.pipeline().blpop(box, 5).lpop(box, MOST_AT_ONCE).exec()) ?? [];
      if (error) throw error;
      const [, first] = (popped as [string, string] | null) ?? [];
      if (first === undefined) continue;
      const more = (rest as string[] | null) ?? [];
      for (const text of [first, ...more]) {
        const letter = Letter.safeParse(parseJson(text)).data;
        if (letter !== undefined) take(letter);
      }
    } catch {
      if (state.isOver) return;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
}
