/** Doubles of the far side, for tests of your own. Adding a line here is adding public API. */
export { type ScriptedModel, type ScriptedReply, scripted } from '../models/index.ts';
export {
  type FakeAgentLLM,
  type FakeAgentLLMOptions,
  type FakeAgentRequest,
  type FakeAgentStep,
  type FakeAnswer,
  type FakeAnswers,
  type FakeLLM,
  type FakeRequest,
  startFakeAgentLLM,
  startFakeLLM,
} from '../testing/index.ts';
