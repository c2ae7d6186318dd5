import { startModelGateway } from 'skillopt/models';
import { startFakeAgentLLM } from 'skillopt/testing';
import { expect, it } from 'vitest';
import { anthropic, ask, chat, gemini, responses } from './gateway-calls.ts';

const listen = { port: 0 };
const invoice = { name: 'invoice', description: 'Prepares an "invoice" with totals & taxes,\nsigned with \\ and “é”.' };
const others = ['reports', 'in', 'letters'].map((name) => ({
  name,
  description: `All that one wants of ${name} and more.`,
}));
const skills = [invoice, ...others];
const escaped = invoice.description.replaceAll('&', '&amp;').replaceAll('"', '&quot;');

it.each([
  [
    anthropic,
    { system: [{ type: 'text', text: `- invoice: ${invoice.description}\n- other: x` }], tools: [{ name: 'Skill' }] },
    'whole',
  ],
  [
    chat,
    {
      tools: [
        { type: 'function', function: { name: 'skill', description: `<name>\ninvoice\n</name>${escaped} (user)` } },
      ],
    },
    'whole',
  ],
  [
    responses,
    {
      instructions: 'x',
      tools: [{ type: 'function', name: 'exec', description: '- invoice: Prepares an "invoice" with totals…' }],
    },
    'cut',
  ],
  [
    gemini,
    {
      systemInstruction: { parts: [{ text: '<name>invoice</name>' }] },
      tools: [{ functionDeclarations: [{ name: 'activate' }] }],
    },
    'none',
  ],
] as const)('sees which skills a model was told of, and how much: %#', async (dialect, more, description) => {
  await using llm = await startFakeAgentLLM({ script: [] });
  await using gateway = await startModelGateway({ upstream: { baseURL: llm.url }, listen, skills });
  await ask(gateway.url, dialect, { more, text: 'Write an invoice, letters and reports.' });
  expect(gateway.offered()).toEqual([{ name: 'invoice', description }]);
  expect(gateway.tools()).toHaveLength(1);
});

it('looks at the first request that offers tools, not at one for a title', async () => {
  await using llm = await startFakeAgentLLM({ script: [] });
  await using gateway = await startModelGateway({ upstream: { baseURL: llm.url }, listen, skills });
  expect([gateway.offered(), gateway.tools()]).toEqual([[], []]);
  const tool = (name: string) => ({ tools: [{ type: 'function', function: { name, description: '- reports' } }] });
  for (const more of [{}, tool('bash'), tool('python')]) await ask(gateway.url, chat, { more });
  expect(gateway.tools()).toEqual(['bash']);
  expect(gateway.offered()).toEqual([{ name: 'reports', description: 'none' }]);
});
