import { isObject } from '../text/index.ts';
import type { AgentRun, AgentStep, WorkspaceDiff } from './agent.ts';
import type { RolloutResult } from './score.ts';

/** A run of an agent in the Agent Trajectory Interchange Format. */
export type Trajectory = {
  readonly schema_version: 'ATIF-v1.4';
  readonly session_id: string;
  readonly agent: { readonly name: string; readonly version: string; readonly model_name?: string };
  readonly steps: readonly TrajectoryStep[];
  readonly notes?: string;
  readonly final_metrics: {
    readonly total_prompt_tokens: number;
    readonly total_completion_tokens: number;
    readonly total_cached_tokens: number;
    readonly total_cost_usd?: number;
    readonly total_steps: number;
  };
};

export type TrajectoryStep = {
  readonly step_id: number;
  readonly source: 'user' | 'agent';
  readonly message: string;
  readonly tool_calls?: readonly ToolCall[];
  readonly observation?: {
    readonly results: readonly { readonly source_call_id?: string; readonly content: string }[];
  };
  readonly extra?: { readonly skills_loaded?: readonly string[]; readonly failed_call_ids?: readonly string[] };
};

type ToolCall = { readonly tool_call_id: string; readonly function_name: string; readonly arguments: object };

/** What runners add to a result. */
type AttemptExtras = {
  readonly skillsLoaded?: readonly string[];
  readonly ended?: string;
  readonly costUsd?: number;
  readonly trajectory?: { readonly steps?: readonly TrajectoryStep[]; readonly notes?: string };
  readonly diff?: WorkspaceDiff;
  readonly verifierOutput?: string;
};

export const extrasOf = ({ extras }: RolloutResult): AttemptExtras => extras ?? {};

type TrajectoryOptions = {
  readonly agent: string;
  readonly version: string;
  readonly model?: string | undefined;
  readonly sessionId: string;
  readonly prompt: string;
  readonly maxTextLength?: number;
  readonly maxLength?: number;
};

/** A step for each turn of the agent: what it said, called and got. */
export function toAtif(run: AgentRun, options: TrajectoryOptions): Trajectory {
  const { agent: name, version, model, sessionId, prompt } = options;
  const cut = cutter(options);
  const asked: TrajectoryStep = { step_id: 1, source: 'user', message: cut(prompt) };
  const steps = [asked, ...turnsOf(run.steps).map((turn, index) => toStep(turn, index + 2, cut))];
  const { usage, costUsd } = run;
  return {
    schema_version: 'ATIF-v1.4',
    session_id: sessionId,
    agent: { name, version, ...(model === undefined ? {} : { model_name: model }) },
    steps,
    ...(cut.lost() === 0 ? {} : { notes: `${cut.lost()} characters of long texts are left out, where it says so` }),
    final_metrics: {
      total_prompt_tokens: usage.input,
      total_completion_tokens: usage.output,
      total_cached_tokens: usage.cached,
      ...(costUsd === undefined ? {} : { total_cost_usd: costUsd }),
      total_steps: steps.length,
    },
  };
}

type Turn = {
  readonly texts: string[];
  readonly calls: Extract<AgentStep, { type: 'tool-call' }>[];
  readonly results: Extract<AgentStep, { type: 'tool-result' }>[];
  readonly loaded: string[];
};

/** A turn ends when a result is seen. A result belongs to the turn that called for it, however late it comes. */
function turnsOf(steps: readonly AgentStep[]): Turn[] {
  const turns: Turn[] = [];
  const callers = new Map<string, Turn>();
  const current = (isOver: (turn: Turn) => boolean) => {
    const last = turns.at(-1);
    if (last !== undefined && !isOver(last)) return last;
    const next: Turn = { texts: [], calls: [], results: [], loaded: [] };
    turns.push(next);
    return next;
  };
  const hasResults = ({ results }: Turn) => results.length > 0;
  for (const step of steps) {
    if (step.type === 'skill-loaded') current(() => false).loaded.push(step.name);
    else if (step.type === 'tool-result') (callers.get(step.id) ?? current(() => false)).results.push(step);
    else if (step.type === 'text') current((turn) => hasResults(turn) || turn.calls.length > 0).texts.push(step.text);
    else {
      const turn = current(hasResults);
      turn.calls.push(step);
      callers.set(step.id, turn);
    }
  }
  return turns;
}

function toStep({ texts, calls, results, loaded }: Turn, id: number, cut: Cutter): TrajectoryStep {
  const known = new Set(calls.map((call) => call.id));
  const failed = results.filter(({ isError }) => isError).map((result) => result.id);
  const extra = {
    ...(loaded.length === 0 ? {} : { skills_loaded: loaded }),
    ...(failed.length === 0 ? {} : { failed_call_ids: failed }),
  };
  const message = cut(texts.join('\n\n'));
  const toolCalls = calls.map((call) => toCall(call, cut));
  const observed = results.map(({ id: call, output }) => ({
    ...(known.has(call) ? { source_call_id: call } : {}),
    content: cut(output),
  }));
  return {
    step_id: id,
    source: 'agent',
    message,
    ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls }),
    ...(observed.length === 0 ? {} : { observation: { results: observed } }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
}

/** The format wants an object; a text that was cut is none. */
function toCall({ id, tool, input }: Turn['calls'][number], cut: Cutter): ToolCall {
  const entries = Object.entries(isObject(input) ? input : { input });
  const shortened = entries.map(([key, value]) => [key, cutValue(value, cut)]);
  return { tool_call_id: id, function_name: tool, arguments: Object.fromEntries(shortened) };
}

function cutValue(value: unknown, cut: Cutter): unknown {
  if (typeof value === 'string') return cut(value);
  const text = JSON.stringify(value) ?? '';
  const kept = cut(text);
  return kept === text ? value : kept;
}

type Cutter = { (text: string): string; lost(): number };

function cutter({ maxTextLength = Number.MAX_SAFE_INTEGER, maxLength = Number.MAX_SAFE_INTEGER }: TrajectoryOptions) {
  let [room, lost] = [maxLength, 0];
  const cut = (text: string): string => {
    const kept = shorten(text, Math.min(maxTextLength, room));
    room = Math.max(0, room - kept.text.length);
    lost += kept.lost;
    return kept.text;
  };
  return Object.assign(cut, { lost: () => lost });
}

function shorten(text: string, length: number): { readonly text: string; readonly lost: number } {
  if (text.length <= length) return { text, lost: 0 };
  const half = Math.floor(length / 2);
  const lost = text.length - 2 * half;
  const end = half === 0 ? '' : text.slice(-half).toWellFormed();
  return { text: `${text.slice(0, half).toWellFormed()}[… ${lost} characters …]${end}`, lost };
}
