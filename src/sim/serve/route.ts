import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { type ChatModel, ModelCallError } from '../../core/contracts/index.ts';
import { readJson } from '../optimizer/wire-edit.ts';
import {
  type Answer,
  CompletionRequest,
  toChatRequest,
  toComplaint,
  toCompletion,
  toModelList,
  toRefusal,
} from './chat-completions.ts';

/** Models by the id that clients ask for. */
export type Models = ReadonlyMap<string, ChatModel>;

/** Answers one HTTP request; throws what a model throws beside `ModelCallError`. */
export async function route(models: Models, request: IncomingMessage, signal: AbortSignal): Promise<Answer> {
  const path = request.url?.replace(/\?.*/, '');
  const body = await text(request);
  if (request.method === 'GET' && path === '/v1/models') return { status: 200, body: toModelList([...models.keys()]) };
  if (request.method === 'POST' && path === '/v1/chat/completions') return complete(models, readJson(body), signal);
  return toComplaint({ status: 404, message: `Nothing is served at ${request.method} ${path}.` });
}

async function complete(models: Models, body: unknown, signal: AbortSignal): Promise<Answer> {
  if (body === undefined) return toComplaint({ status: 400, message: 'The body must be JSON.' });
  const parsed = CompletionRequest.safeParse(body);
  if (!parsed.success) {
    const { path, message } = parsed.error.issues[0]!;
    const param = path.join('.');
    return toComplaint({ status: 400, message: param ? `${param}: ${message}` : message, param });
  }
  const model = models.get(parsed.data.model);
  if (!model) return unknownModel(parsed.data.model, models);
  try {
    return {
      status: 200,
      body: toCompletion(parsed.data.model, await model.complete(toChatRequest(parsed.data, signal))),
    };
  } catch (error) {
    if (error instanceof ModelCallError) return toRefusal(error);
    throw error;
  }
}

function unknownModel(asked: string, models: Models): Answer {
  const message = `There is no model "${asked}": ask for ${[...models.keys()].join(' or ')}.`;
  return toComplaint({ status: 404, message, param: 'model', code: 'model_not_found' });
}
