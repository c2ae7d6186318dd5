/** Doubles of the far side, for tests of your own. The whole room is public. */
export { type ScriptedModel, type ScriptedReply, scripted } from '../models/index.ts';
export * from '../testing/index.ts';
