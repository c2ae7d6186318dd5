import type { ChatModel } from '../../../src/core/contracts/index.ts';
import type { NightPerson } from './runner.ts';

/** The models of a person, and how often they were asked. */
export type CountedModels = Pick<NightPerson, 'target' | 'judge' | 'optimizer'> & { calls(): number };

export function countCalls({ target, judge, optimizer }: NightPerson): CountedModels {
  let calls = 0;
  const counting = (model: ChatModel): ChatModel => ({
    ...model,
    complete(request) {
      calls += 1;
      return model.complete(request);
    },
  });
  return { target: counting(target), judge: counting(judge), optimizer: counting(optimizer), calls: () => calls };
}
