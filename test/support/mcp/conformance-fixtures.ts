import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type ContentBlock,
  completable,
  createRequestStateCodec,
  fromJsonSchema,
  type InputRequests,
  inputRequired,
  inputResponse,
  type McpServer,
  ResourceTemplate,
  type ServerContext,
  type ServerNotifier,
} from '@modelcontextprotocol/server';
import { z } from 'zod';

/*
 * What the scenarios of the conformance suite call by name: tools, resources and prompts that a server has only so that it can be
 * examined. They are put beside the tools of the server that is under test.
 */

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';

const text = (words: string) => ({ type: 'text' as const, text: words });
const image = { type: 'image' as const, data: PNG, mimeType: 'image/png' };
const resource = (uri: string, mimeType: string, words: string) => ({
  type: 'resource' as const,
  resource: { uri, mimeType, text: words },
});

/** What a client carries from one round to the next, and cannot change: each request may be served by another instance. */
const state = createRequestStateCodec({ key: randomBytes(32) });

export function addFixtures(server: McpServer, notify: () => ServerNotifier): void {
  // An option of the constructor that the server under test has no use for: no tool of ours carries a state.
  Object.assign(server.server, { _requestStateVerify: state.verify });
  server.server.registerCapabilities({ logging: {}, resources: { subscribe: true } });
  addPlainTools(server, notify);
  addAskingTools(server);
  addRounds(server);
  addSchemas(server);
  addResources(server);
  addPrompts(server);
}

function addPlainTools(server: McpServer, notify: () => ServerNotifier): void {
  const tool = (name: string, act: (context: ServerContext) => Promise<readonly ContentBlock[]>) =>
    server.registerTool(name, { description: `Fixture ${name}` }, async (context) => ({
      content: [...(await act(context))],
    }));
  tool('test_simple_text', async () => [text('This is a simple text response for testing.')]);
  tool('test_image_content', async () => [image]);
  tool('test_audio_content', async () => [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }]);
  tool('test_embedded_resource', async () => [
    resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.'),
  ]);
  tool('test_multiple_content_types', async () => [
    text('Multiple content types test:'),
    image,
    resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
  ]);
  tool('test_error_handling', async () => {
    throw new Error('This tool intentionally returns an error for testing');
  });
  tool('test_tool_with_logging', async ({ mcpReq }) => {
    for (const words of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await mcpReq.log('info', words);
      await sleep(50);
    }
    return [text('logged')];
  });
  tool('test_logging_tool', async ({ mcpReq }) => {
    await mcpReq.log('info', 'only for who asked for it');
    return [text('logged')];
  });
  tool('test_tool_with_progress', async ({ mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined)
        await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
      await sleep(50);
    }
    return [text('done')];
  });
  tool('test_reconnection', async ({ http }) => {
    http?.closeSSE?.();
    await sleep(200);
    return [text('the stream was taken up again')];
  });
  tool('test_trigger_tool_change', async () => {
    notify().toolsChanged();
    return [text('told')];
  });
  tool('test_trigger_prompt_change', async () => {
    notify().promptsChanged();
    return [text('told')];
  });
}

const ask = (message: string, properties: object, required = Object.keys(properties)) =>
  inputRequired.elicit({ message, requestedSchema: { type: 'object', properties, required } as never });
const complete = (words: string, maxTokens = 100) =>
  inputRequired.createMessage({ messages: [{ role: 'user', content: text(words) }], maxTokens });

const Name = z.object({ name: z.string() });
const nameRequest = (message = 'What is your name?') => ask(message, { name: { type: 'string' } });

/** Whether each request has an answer. */
const isAnswered = ({ mcpReq }: ServerContext, requests: InputRequests) =>
  Object.keys(requests).every((key) => inputResponse(mcpReq.inputResponses, key).kind !== 'missing');

function addAskingTools(server: McpServer): void {
  /** Asks until all is answered, and then says what was answered. */
  const tool = (name: string, requests: InputRequests) =>
    server.registerTool(name, { description: `Fixture ${name}` }, async (context) => {
      if (!isAnswered(context, requests)) return inputRequired({ inputRequests: requests });
      return { content: [text(Object.keys(requests).map(answerIn(context)).join('\n'))] };
    });
  tool('test_elicitation_sep1034_defaults', {
    form: ask(
      'Look at these values',
      {
        name: { type: 'string', default: 'John Doe' },
        age: { type: 'integer', default: 30 },
        score: { type: 'number', default: 95.5 },
        status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
        verified: { type: 'boolean', default: true },
      },
      [],
    ),
  });
  tool('test_elicitation_sep1330_enums', { form: ask('Choose', ENUMS, []) });
  tool('test_streaming_elicitation', { user_name: nameRequest() });
  tool('test_missing_capability', { completion: complete('Say something') });
  tool('test_input_required_result_sampling', { capital_question: complete('What is the capital of France?') });
  tool('test_input_required_result_list_roots', { client_roots: inputRequired.listRoots() });

  server.registerTool(
    'test_sampling',
    { description: 'Fixture test_sampling', inputSchema: z.object({ prompt: z.string() }) },
    async ({ prompt }, context) => {
      const requests = { completion: complete(prompt) };
      if (!isAnswered(context, requests)) return inputRequired({ inputRequests: requests });
      return { content: [text(`LLM response: ${answerIn(context)('completion')}`)] };
    },
  );
  server.registerTool(
    'test_elicitation',
    { description: 'Fixture test_elicitation', inputSchema: z.object({ message: z.string() }) },
    async ({ message }, context) => {
      const requests = { form: ask(message, { username: { type: 'string' }, email: { type: 'string' } }) };
      if (!isAnswered(context, requests)) return inputRequired({ inputRequests: requests });
      return { content: [text(`User response: ${answerIn(context)('form')}`)] };
    },
  );
  server.registerTool(
    'test_input_required_result_elicitation',
    { description: 'Fixture test_input_required_result_elicitation' },
    async ({ mcpReq }) => {
      const answer = acceptedContent(mcpReq.inputResponses, 'user_name', Name);
      if (answer === undefined) return inputRequired({ inputRequests: { user_name: nameRequest() } });
      return { content: [text(`Hello, ${answer.name}!`)] };
    },
  );
  server.registerTool(
    'test_input_required_result_capabilities',
    { description: 'Fixture test_input_required_result_capabilities' },
    async (context) => {
      const envelope = context.mcpReq.envelope as
        | { readonly [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities }
        | undefined;
      const { sampling, elicitation } = envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? {};
      const requests = {
        ...(sampling && { completion: complete('Say something') }),
        ...(elicitation && { user_name: nameRequest() }),
      };
      if (!isAnswered(context, requests)) return inputRequired({ inputRequests: requests });
      return { content: [text('answered')] };
    },
  );
}

const answerIn = (context: ServerContext) => (key: string) => {
  const answer = inputResponse(context.mcpReq.inputResponses, key);
  if (answer.kind === 'elicit') return `action=${answer.action}, content=${JSON.stringify(answer.content ?? {})}`;
  if (answer.kind === 'sampling') return JSON.stringify(answer.result.content);
  return JSON.stringify(answer);
};

const titled = (...titles: readonly string[]) => titles.map((title, i) => ({ const: `value${i + 1}`, title }));
const options = ['option1', 'option2', 'option3'];
const ENUMS = {
  untitledSingle: { type: 'string', enum: options },
  titledSingle: { type: 'string', oneOf: titled('First Option', 'Second Option', 'Third Option') },
  legacyEnum: {
    type: 'string',
    enum: ['opt1', 'opt2', 'opt3'],
    enumNames: ['Option One', 'Option Two', 'Option Three'],
  },
  untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
  titledMulti: { type: 'array', items: { anyOf: titled('First Choice', 'Second Choice', 'Third Choice') } },
};

type Round = { readonly round: number; readonly name?: string };

/** Tools that carry a state from round to round. */
function addRounds(server: McpServer): void {
  const confirm = () => ask('Please confirm', { ok: { type: 'boolean' } });
  const tool = (name: string, requests: InputRequests) =>
    server.registerTool(name, { description: `Fixture ${name}` }, async (context) => {
      const isBack = context.mcpReq.requestState<Round>()?.round === 1;
      if (isBack && isAnswered(context, requests)) return { content: [text('state-ok')] };
      return inputRequired({ inputRequests: requests, requestState: await state.mint({ round: 1 }, context) });
    });
  tool('test_input_required_result_request_state', { confirm: confirm() });
  tool('test_input_required_result_tampered_state', { confirm: confirm() });
  tool('test_input_required_result_multiple_inputs', {
    user_name: nameRequest(),
    greeting: complete('Generate a greeting', 50),
    client_roots: inputRequired.listRoots(),
  });
  server.registerTool(
    'test_input_required_result_multi_round',
    { description: 'Fixture test_input_required_result_multi_round' },
    async (context) => {
      const { inputResponses, requestState } = context.mcpReq;
      const { round, name } = requestState<Round>() ?? { round: 0 };
      const named = acceptedContent(inputResponses, 'step1', Name);
      const color = acceptedContent(inputResponses, 'step2', z.object({ color: z.string() }));
      if (round === 2 && color) return { content: [text(`${name} likes ${color.color}`)] };
      const isNamed = named !== undefined || round === 2;
      const next: Round = isNamed ? { round: 2, name: named?.name ?? name ?? '' } : { round: 1 };
      const inputRequests: InputRequests = isNamed
        ? { step2: ask('Step 2: What is your favorite color?', { color: { type: 'string' } }) }
        : { step1: nameRequest('Step 1: What is your name?') };
      return inputRequired({ inputRequests, requestState: await state.mint(next, context) });
    },
  );
}

const SCHEMA_2020_12 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object' as const,
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // biome-ignore lint/suspicious/noThenProperty: a word of JSON Schema
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
};

function addSchemas(server: McpServer): void {
  const answer = async () => ({ content: [text('taken')] });
  const inputSchema = fromJsonSchema(SCHEMA_2020_12 as never);
  server.registerTool('json_schema_2020_12_tool', { description: 'Fixture of JSON Schema', inputSchema }, answer);
  const headers = z.object({
    region: z.string().meta({ 'x-mcp-header': 'Region' }),
    priority: z.int().optional().meta({ 'x-mcp-header': 'Priority' }),
  });
  server.registerTool('test_headers', { description: 'Fixture of headers', inputSchema: headers }, answer);
}

function addResources(server: McpServer): void {
  const add = (name: string, mimeType: string, content: { readonly text: string } | { readonly blob: string }) => {
    const uri = `test://${name}`;
    server.registerResource(name, uri, { description: `Fixture ${name}`, mimeType }, async () => ({
      contents: [{ uri, mimeType, ...content }],
    }));
  };
  add('static-text', 'text/plain', { text: 'This is the content of the static text resource.' });
  add('static-binary', 'image/png', { blob: PNG });
  add('watched-resource', 'text/plain', { text: 'Watched.' });
  const template = new ResourceTemplate('test://template/{id}/data', { list: undefined });
  const about = { description: 'Fixture of a template', mimeType: 'application/json' };
  server.registerResource('template', template, about, async ({ href: uri }, { id }) => ({
    contents: [{ uri, mimeType: about.mimeType, text: JSON.stringify({ id, data: `Data for ID: ${id}` }) }],
  }));
  server.server.setRequestHandler('resources/subscribe', async () => ({}));
  server.server.setRequestHandler('resources/unsubscribe', async () => ({}));
}

function addPrompts(server: McpServer): void {
  const said = (...contents: readonly ContentBlock[]) => ({
    messages: contents.map((content) => ({ role: 'user' as const, content })),
  });
  const about = (name: string) => ({ description: `Fixture ${name}` });
  server.registerPrompt('test_simple_prompt', about('test_simple_prompt'), async () =>
    said(text('This is a simple prompt for testing.')),
  );
  server.registerPrompt('test_prompt_with_image', about('test_prompt_with_image'), async () =>
    said(image, text('Please analyze the image above.')),
  );
  const places = ['paris', 'park', 'party'];
  const argument = completable(z.string(), (value) => places.filter((place) => place.startsWith(value)));
  server.registerPrompt(
    'test_prompt_with_arguments',
    { ...about('test_prompt_with_arguments'), argsSchema: z.object({ arg1: argument, arg2: z.string() }) },
    async ({ arg1, arg2 }) => said(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  );
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { ...about('test_prompt_with_embedded_resource'), argsSchema: z.object({ resourceUri: z.string() }) },
    async ({ resourceUri }) =>
      said(
        resource(resourceUri, 'text/plain', 'Embedded resource content for testing.'),
        text('Please process the embedded resource above.'),
      ),
  );
  server.registerPrompt(
    'test_input_required_result_prompt',
    about('test_input_required_result_prompt'),
    async ({ mcpReq }) => {
      const answer = acceptedContent(mcpReq.inputResponses, 'user_context', z.object({ context: z.string() }));
      if (answer) return said(text(`Use this context: ${answer.context}`));
      const user_context = ask('What context should the prompt use?', { context: { type: 'string' } });
      return inputRequired({ inputRequests: { user_context } });
    },
  );
}
