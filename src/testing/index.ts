/** Doubles of the far side, for tests of your own. Adding a line here is adding public API. */
export { type ScriptedModel, type ScriptedReply, scripted } from '../models/scripted.ts';
export { type FakeAnswer, type FakeAnswers, type FakeLLM, type FakeRequest, startFakeLLM } from './start-fake-llm.ts';
