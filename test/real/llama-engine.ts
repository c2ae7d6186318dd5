import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

type Token = number;
type Step = Token | [Token, { generateNext: { probabilities: true } }];
type Output = { readonly next: { readonly probabilities?: ReadonlyMap<Token, number> } } | undefined;

/** The little that we use of node-llama-cpp, which is no dependency of the project and so has no types here. */
type Sequence = {
  readonly nextTokenIndex: number;
  eraseContextTokenRanges(ranges: { start: number; end: number }[]): Promise<void>;
  controlledEvaluate(input: Step[]): Promise<Output[]>;
};
type Model = {
  readonly tokens: { readonly bos: Token };
  tokenize(text: string): Token[];
  createContext(options: object): Promise<{ getSequence(): Sequence }>;
};
type Library = { getLlama(options: object): Promise<{ loadModel(options: object): Promise<Model> }> };

export type Engine = {
  /** The chance of each word to come next, among all that the model knows. Every word must be one token. */
  chancesOf(words: readonly string[], prompt: string): Promise<number[]>;
};

/** One thread: on a machine that others use too, two wait for each other more than they help. */
export async function startEngine(modelPath: string, threads = 1): Promise<Engine> {
  const entry = resolve(modelPath, '../node_modules/node-llama-cpp/dist/index.js');
  const library: Library = await import(/* @vite-ignore */ pathToFileURL(entry).href);
  const llama = await library.getLlama({ gpu: false, build: 'never', logLevel: 'error', maxThreads: threads });
  const model = await llama.loadModel({ modelPath });
  const context = await model.createContext({ contextSize: 2048, batchSize: 512, threads });
  const next = nextToken(context.getSequence());
  return {
    async chancesOf(words, prompt) {
      const tokens = words.map((word) => onlyToken(model, word));
      const chances = await next([model.tokens.bos, ...model.tokenize(prompt)]);
      return tokens.map((token) => chances.get(token) ?? 0);
    },
  };
}

function onlyToken(model: Model, word: string): Token {
  const [token, ...more] = model.tokenize(word);
  if (token === undefined || more.length > 0) throw new Error(`"${word}" is not one token of this model`);
  return token;
}

/** Prompts that start alike, as those of one skill do, are read once up to where they part. One at a time. */
function nextToken(sequence: Sequence) {
  let read: readonly Token[] = [];
  let queue: Promise<unknown> = Promise.resolve();
  const evaluate = async (prompt: readonly Token[]): Promise<ReadonlyMap<Token, number>> => {
    const shared = sharedLength(read, prompt.slice(0, -1));
    read = [];
    await sequence.eraseContextTokenRanges([{ start: shared, end: sequence.nextTokenIndex }]);
    const rest: Step[] = prompt.slice(shared, -1);
    const outputs = await sequence.controlledEvaluate([...rest, [prompt.at(-1)!, LAST]]);
    read = prompt;
    return outputs.at(-1)?.next.probabilities ?? new Map();
  };
  return (prompt: readonly Token[]) => {
    const turn = queue.then(() => evaluate(prompt));
    queue = turn.catch(() => undefined);
    return turn;
  };
}

const LAST = { generateNext: { probabilities: true } } as const;

function sharedLength(a: readonly Token[], b: readonly Token[]): number {
  let length = 0;
  while (length < a.length && length < b.length && a[length] === b[length]) length += 1;
  return length;
}
