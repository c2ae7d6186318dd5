/** Doubles of the far side, for tests of your own. Adding a line here is adding public API. */
export { type ScriptedModel, type ScriptedReply, scripted } from '../models/scripted.ts';
export type { FakeAgentStep } from './agent/agent-step.ts';
export {
  type FakeAgentLLM,
  type FakeAgentLLMOptions,
  type FakeAgentRequest,
  startFakeAgentLLM,
} from './agent/start-fake-agent-llm.ts';
export { type FakeAnswer, type FakeAnswers, type FakeLLM, type FakeRequest, startFakeLLM } from './start-fake-llm.ts';
