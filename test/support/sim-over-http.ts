import { openaiCompatible, type RunStore, SimpleQAEnv, type SkillOptConfigInput, SkillOptTrainer } from 'skillopt';
import { createWorld, simulatedOptimizer, simulatedTarget, type WorldOptions } from 'skillopt/sim';
import { type FakeAnswer, type FakeRequest, startFakeLLM } from 'skillopt/testing';

/** Another answer in place of the model's, or none. */
export type Disturbance = (request: FakeRequest) => FakeAnswer | undefined;

/** A server that answers as the simulated models do, unless it is disturbed. Its `disturbance` may change at any time. */
export async function startSimOverHttp() {
  const models = { 'sim-target': simulatedTarget(), 'sim-optimizer': simulatedOptimizer() };
  const far: { disturbance: Disturbance } = { disturbance: () => undefined };
  const server = await startFakeLLM(async (request) => {
    const model = models[request.model as keyof typeof models];
    return far.disturbance(request) ?? (await model.complete({ messages: request.messages as never })).text;
  });
  return Object.assign(far, server);
}

type TrainOverHttp = {
  readonly baseURL: string;
  readonly store: RunStore;
  readonly world?: WorldOptions;
  readonly config: SkillOptConfigInput;
};

/** Trains in the simulated world with models that are reached over HTTP. */
export function trainOverHttp({ baseURL, store, world = {}, config }: TrainOverHttp) {
  const { items, initialSkill } = createWorld(world);
  const env = new SimpleQAEnv({ trainItems: items.train, valItems: items.val, testItems: items.test, initialSkill });
  const far = (model: string) => openaiCompatible({ model, baseURL, apiKey: 'dummy-key' });
  const [target, optimizer] = [far('sim-target'), far('sim-optimizer')];
  return new SkillOptTrainer({ env, target, optimizer, store, config }).train();
}
