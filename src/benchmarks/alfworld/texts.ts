import type { Scene } from './world.ts';

export const RULES = `You act in a house that you know through text alone. Each turn shows your task, your last steps, what you see now, and the
actions that are possible here. Choose one of these actions, word for word. An action that is not among them changes nothing.

Think briefly in <think></think>: what is still missing, and which action brings you closer. Then name the action in
<action></action>, small letters, nothing else between the tags. One action a turn.`;

export const INITIAL_SKILL = `# Household tasks

| task | steps |
|---|---|
| put an object somewhere | find it, take it, go to the place, put it there |
| put two of a kind somewhere | the same twice, one object at a time |
| look at an object under a lamp | take it, go to the lamp, use the lamp while holding it |
| put a hot object somewhere | take it, heat it with the microwave, bring it |
| put a cool object somewhere | take it, cool it with the fridge, bring it |
| put a clean object somewhere | take it, clean it with the sinkbasin, bring it |

## How to work

1. Say to yourself which object, which change and which place the task asks for.
2. Look first where such an object usually lies. Go through the other places in order, and do not visit one twice.
3. A closed place shows nothing: open it.
4. You can hold one object. Take the right kind: a cup is no mug.
5. Heat, cool or clean while you hold the object. It need not be put into the appliance.
6. If nothing happens, the action was not possible here. Choose another one from the list.
`;

/** A step that was made: what was seen before it, and what was done. */
export type Step = { readonly observation: string; readonly action: string };

type Turn = {
  readonly task: string;
  readonly steps: readonly Step[];
  readonly maxSteps: number;
  readonly scene: Pick<Scene, 'observation' | 'admissible'>;
};

/** Steps that the prompt repeats. */
export const REPEATED_STEPS = 2;

export function turnText({ task, steps, maxSteps, scene }: Turn): string {
  const recent = steps.slice(-REPEATED_STEPS);
  const first = steps.length - recent.length + 1;
  const past = recent.map(
    ({ observation, action }, index) => `Step ${first + index}\nYou saw: ${observation}\nYou did: ${action}`,
  );
  return [
    `Task: ${task}`,
    ...(past.length === 0 ? [] : [`Your last steps:\n\n${past.join('\n\n')}`]),
    `This is step ${steps.length + 1} of ${maxSteps}. You see now:\n${scene.observation}`,
    `Possible actions:\n${scene.admissible.filter((action) => action !== 'help').join('\n')}`,
  ].join('\n\n');
}

/** The task is at the end of the first observation. Without its mark, the whole observation is the task. */
export const taskOf = (observation: string): string =>
  observation
    .split(/your task is to:/i)
    .at(-1)!
    .trim();
