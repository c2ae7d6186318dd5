import { extrasOf, type RolloutResult, type TrajectoryStep } from '../../core/contracts/index.ts';

/** One thing that was said or done in an attempt. */
export type Turn = { readonly who: string; readonly text: string };

/** The steps of an agent if there are any, else the conversation. */
export function turnsOf(result: RolloutResult): Turn[] {
  const { trajectory } = extrasOf(result);
  if (trajectory?.steps === undefined) return (result.conversation ?? []).map(talkTurn);
  const notes = trajectory.notes === undefined ? [] : [{ who: 'note', text: trajectory.notes }];
  return [...trajectory.steps.filter(({ source }) => source === 'agent').flatMap(agentTurns), ...notes];
}

function talkTurn(turn: unknown): Turn {
  const { role = '', content = '' } = (turn ?? {}) as { role?: unknown; content?: unknown };
  return { who: String(role), text: typeof content === 'string' ? content : JSON.stringify(content) };
}

function agentTurns({ message, tool_calls: calls = [], observation, extra = {} }: TrajectoryStep): Turn[] {
  const answers = (id: string | undefined, who: string) =>
    (observation?.results ?? [])
      .filter((one) => one.source_call_id === id)
      .map(({ content }) => ({ who, text: content }));
  return [
    ...(extra.skills_loaded ?? []).map((name) => ({ who: 'loads skill', text: name })),
    ...(message === '' ? [] : [{ who: 'says', text: message }]),
    ...calls.flatMap(({ tool_call_id: id, function_name: name, arguments: input }) => [
      { who: `calls ${name}`, text: inputText(input) },
      ...answers(id, extra.failed_call_ids?.includes(id) ? 'fails' : 'gets'),
    ]),
    ...answers(undefined, 'gets'),
  ];
}

/** A single text needs no name. */
function inputText(input: object): string {
  const values = Object.values(input);
  return values.length === 1 && typeof values[0] === 'string' ? values[0] : JSON.stringify(input, null, 1);
}
