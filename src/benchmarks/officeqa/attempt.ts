import type { ChatMessage, ChatReply, RolloutContext, RolloutOutput } from '../../core/contracts/index.ts';
import { clip } from '../../core/text/index.ts';
import { cutNote } from '../../envs/index.ts';
import { ask, firstMessages } from '../ask.ts';
import type { DataFiles } from '../data/data-files.ts';
import type { OfficeQaItem } from './item.ts';
import { questionText, REMINDER, RULES, RULES_FOR_AGENTS, TIME_IS_UP } from './prompts.ts';
import { type OfficeQaSettings, scoreWith } from './settings.ts';
import { MOST_CALLS, readCalls, taggedAnswer } from './tool-calls.ts';
import { DocumentTools } from './tools.ts';

type Context = RolloutContext<OfficeQaItem>;
type Options = { readonly settings: OfficeQaSettings; readonly files: DataFiles };

/** The answer of an attempt, or why there is none, with the talk that led there. */
type Talk = { readonly answer?: string; readonly failure?: string; readonly messages: readonly ChatMessage[] };

/** An agent finds the documents in its workspace and is asked once. A model asks for them with tools, turn by turn. */
export async function attempt(context: Context, options: Options): Promise<RolloutOutput> {
  const { item } = context;
  const talk = context.agent === undefined ? await converse(context, options) : await askAgent(context, options);
  const { answer = '', messages } = talk;
  const { hard, soft } = scoreWith(options.settings, answer, item.answer);
  const miss = talk.failure ?? `expected ${JSON.stringify(item.answer)}, got ${JSON.stringify(clip(answer, 500))}`;
  return {
    hard,
    soft,
    nTurns: messages.filter(({ role }) => role === 'assistant').length,
    ...(item.taskType === undefined ? {} : { taskType: item.taskType }),
    question: item.question,
    predictedAnswer: answer,
    referenceText: item.answer,
    conversation: shownTalk(messages),
    ...(hard === 1 ? {} : { failReason: miss }),
  };
}

async function askAgent({ item, skill, target, signal }: Context, { settings }: Options): Promise<Talk> {
  const asked = firstMessages(skill, { rules: RULES_FOR_AGENTS, question: questionText(item, 'documents/') });
  const reply = await ask(asked, { target, signal, maxOutputTokens: settings.maxCompletionTokens });
  return withReply(asked, reply);
}

function withReply(asked: readonly ChatMessage[], reply: ChatReply): Talk {
  const messages = [...asked, { role: 'assistant' as const, content: reply.text }];
  const answer = taggedAnswer(reply.text);
  if (answer !== undefined) return { answer, messages };
  return { failure: `the reply has no answer in tags${cutNote(reply)}`, messages };
}

async function converse({ item, skill, target, signal }: Context, { settings, files }: Options): Promise<Talk> {
  const { maxToolTurns, maxCompletionTokens: maxOutputTokens } = settings;
  const tools = new DocumentTools(item.documents, files);
  const messages = firstMessages(skill, { rules: RULES, question: questionText(item) });
  let isReminded = false;
  for (let turn = 1; turn <= maxToolTurns; turn++) {
    const reply = await ask(bounded(messages), { target, signal, maxOutputTokens });
    const talk = withReply(messages, reply);
    if (talk.answer !== undefined) return talk;
    const called = readCalls(reply.text);
    if (called.calls.length === 0 && isReminded)
      return { ...talk, failure: `turn ${turn} has neither a call nor an answer${cutNote(reply)}` };
    const content = called.calls.length === 0 ? REMINDER : await resultsOf(called, tools, signal);
    isReminded ||= called.calls.length === 0;
    messages.push({ role: 'assistant', content: reply.text });
    messages.push({ role: 'user', content: turn === maxToolTurns ? `${content}\n\n${TIME_IS_UP}` : content });
  }
  const talk = withReply(messages, await ask(bounded(messages), { target, signal, maxOutputTokens }));
  const { failure } = talk;
  return failure === undefined ? talk : { ...talk, failure: `no answer after ${maxToolTurns} turns: ${failure}` };
}

async function resultsOf({ calls, hasMore }: ReturnType<typeof readCalls>, tools: DocumentTools, signal: AbortSignal) {
  const results: string[] = [];
  for (const call of calls) {
    signal.throwIfAborted();
    results.push(await tools.run(call));
  }
  const texts = results.map((text, index) => `<result call="${index + 1}">\n${text}\n</result>`);
  return [...texts, ...(hasMore ? [`Only the first ${MOST_CALLS} calls of a reply are run.`] : [])].join('\n\n');
}

/** About 30,000 tokens: with rules and skill it fits into every model that reads tables. */
const MOST_TALK = 120_000;
const MOST_OLD = 200;

/**
 * What the model reads of the talk: rules and question, and the newest turns. A call and its results are shortened once the turns
 * after them fill the room.
 */
function bounded(messages: readonly ChatMessage[]): ChatMessage[] {
  const [first, turns] = [messages.slice(0, 2), messages.slice(2)];
  let room = MOST_TALK;
  const newest = turns.toReversed().map((message) => {
    const content = clip(message.content, room > 0 ? MOST_TALK / 4 : MOST_OLD);
    room -= content.length;
    return { ...message, content };
  });
  return [...first, ...newest.reverse()];
}

const MOST_SHOWN = 2_000;

/** What analysts read: without the rules, which all items share, and with long results cut in the middle. */
const shownTalk = (messages: readonly ChatMessage[]) =>
  messages
    .filter(({ role }) => role !== 'system')
    .map(({ role, content }) => ({ role, content: clip(content, MOST_SHOWN) }));
