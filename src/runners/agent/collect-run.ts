import type { AgentEvent, EventReader } from '../../agents/index.ts';
import { type AgentEnd, type AgentStep, addTokens, noUsage, type Usage } from '../../core/contracts/index.ts';

type Refusal = Extract<AgentEvent, { type: 'failure' }>['refusal'];

/** What the lines of a CLI come to. */
export type Collected = {
  readonly steps: readonly AgentStep[];
  readonly text: string;
  readonly offered: readonly string[];
  readonly loaded: readonly string[];
  readonly usage: Usage;
  readonly costUsd: number | undefined;
  /** How it ended by its own account; nothing if it was ended. */
  readonly ended: AgentEnd | undefined;
  readonly refusal: Refusal | undefined;
};

const STEPS = ['text', 'tool-call', 'tool-result', 'skill-loaded'];
const isStep = (event: AgentEvent): event is AgentStep => STEPS.includes(event.type);

/** Takes lines as they come, tells of each step, and says at any time what they came to. */
export function collectRun(read: EventReader, onStep: (step: AgentStep) => void = () => {}) {
  const steps: AgentStep[] = [];
  const others: Exclude<AgentEvent, AgentStep>[] = [];
  const take = (event: AgentEvent) => {
    if (!isStep(event)) return void others.push(event);
    steps.push(event);
    onStep(event);
  };
  return {
    onLine: (line: string) => read(line).forEach(take),
    collected: (): Collected => ({ steps, ...summed(steps, others) }),
  };
}

function summed(steps: readonly AgentStep[], others: readonly Exclude<AgentEvent, AgentStep>[]) {
  const of = <T extends AgentEvent['type']>(type: T) =>
    others.filter((event): event is Extract<typeof event, { type: T }> => event.type === type);
  const end = of('end').at(-1);
  const used = of('usage');
  const total = used.filter(({ isTotal }) => isTotal).at(-1);
  const costs = used.map(({ costUsd }) => costUsd).filter((cost) => cost !== undefined);
  return {
    text: end?.text ?? lastText(steps),
    offered: unique(of('skill-offered').map(({ name }) => name)),
    loaded: unique(steps.flatMap((step) => (step.type === 'skill-loaded' ? [step.name] : []))),
    usage: total?.usage ?? used.map(({ usage }) => usage).reduce(addTokens, noUsage),
    costUsd: total?.costUsd ?? (costs.length === 0 ? undefined : costs.reduce((sum, cost) => sum + cost, 0)),
    ended: end?.ended,
    refusal: of('failure').at(-1)?.refusal,
  };
}

const unique = (names: readonly string[]) => [...new Set(names)];

function lastText(steps: readonly AgentStep[]): string {
  const last = steps.findLast((step) => step.type === 'text');
  return last?.type === 'text' ? last.text : '';
}
