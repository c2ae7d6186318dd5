export type { FakeAgentStep } from './agent/agent-step.ts';
export {
  type FakeAgentLLM,
  type FakeAgentLLMOptions,
  type FakeAgentRequest,
  startFakeAgentLLM,
} from './agent/start-fake-agent-llm.ts';
export { type FakeAnswer, type FakeAnswers, type FakeLLM, type FakeRequest, startFakeLLM } from './start-fake-llm.ts';
