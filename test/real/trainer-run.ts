import {
  type ChatModel,
  memoryRun,
  type RunEvent,
  type RunFact,
  type RunState,
  type SkillEnv,
  type SkillOptConfigInput,
  SkillOptTrainer,
} from 'skillopt';
import { classifyEnv } from '../../examples/classify/classify-env.ts';
import type { Proposal } from '../../examples/classify/proposals.ts';
import { proposalOf, scriptedOptimizer } from '../../examples/classify/scripted-optimizer.ts';
import { isAccepted } from '../../src/core/run/index.ts';

type RunInput = {
  readonly target: ChatModel;
  readonly proposals: readonly Proposal[];
  /** Runs with different numbers share no draw and no shuffle. */
  readonly number: number;
  readonly env?: SkillEnv;
  readonly initialSkill?: string;
  readonly config?: SkillOptConfigInput;
};

export type Step = {
  readonly proposal: Proposal;
  /** What the gate said; without a verdict, what became of the step. */
  readonly outcome: string;
  /** Whether the gate was asked. */
  readonly isDecided: boolean;
  readonly isAccepted: boolean;
  /** Of the candidate in the gate. */
  readonly rollouts: number;
  readonly incumbent: string;
  readonly candidate: string;
};

export type Belief = { readonly skill: string; readonly believed: number };

export type TrainerRun = {
  readonly steps: readonly Step[];
  readonly skill: string;
  /** Every skill that the gate let in, with what it believed of it then. */
  readonly accepts: readonly Belief[];
  /** The current skill at the end, with what the gate believes of it. */
  readonly end: Belief;
  readonly leaks: number;
  /** All rollouts of the run: training, gate, final measurement and test. */
  readonly rollouts: number;
  readonly final: Extract<RunFact, { type: 'final-measurement-end' }>;
  readonly tests: RunState['tests'];
};

/** The product as it is: the trainer with its defaults, but for what `config` says. All figures come from its journal. */
export async function trainerRun({ target, proposals, number, env = classifyEnv, ...more }: RunInput) {
  const optimizer = scriptedOptimizer(proposals);
  const journal: Entry[] = [];
  const watch = { onEvent: (event: RunEvent, state: RunState) => void journal.push({ event, state }) };
  const trainer = new SkillOptTrainer({
    env,
    target: drawsOf(target, number),
    optimizer,
    observers: [watch],
    store: memoryRun(),
    ...more,
    config: { seed: 42 + number, ...more.config },
  });
  await trainer.train();
  return readRun(journal, proposals);
}

/** Far from all draws outside of runs. */
const FIRST_DRAW = 2_000_000_000;
const DRAWS_APART = 1_000_000;

function drawsOf(target: ChatModel, number: number): ChatModel {
  const from = FIRST_DRAW + number * DRAWS_APART;
  return {
    ...target,
    id: `${target.id} draws=${number}`,
    complete: ({ sampleIndex = 0, ...request }) => target.complete({ ...request, sampleIndex: from + sampleIndex }),
  };
}

type Entry = { readonly event: RunEvent; readonly state: RunState };

function readRun(journal: readonly Entry[], proposals: readonly Proposal[]): TrainerRun {
  const { current, best, leaks, tests } = journal.at(-1)!.state;
  const final = journal.map(({ event }) => event).find(({ type }) => type === 'final-measurement-end');
  return {
    steps: journal.flatMap((entry, index) => readStep(entry, journal[index - 1]?.state, proposals)),
    skill: best.skill,
    accepts: journal.flatMap(readAccept),
    end: { skill: current.skill, believed: current.score },
    leaks: leaks.length,
    rollouts: journal.reduce((sum, { event }) => sum + (event.usage.rollout?.rollouts ?? 0), 0),
    final: final as TrainerRun['final'],
    tests,
  };
}

function readAccept({ event, state: { current } }: Entry): Belief[] {
  if (event.type !== 'step-end' || !isAccepted(event.action)) return [];
  return [{ skill: current.skill, believed: current.score }];
}

function readStep({ event }: Entry, before: RunState | undefined, proposals: readonly Proposal[]): Step[] {
  if (event.type !== 'stage-end' || event.stage !== 'evaluate') return [];
  const { decision, action, evaluation } = event;
  return [
    {
      proposal: proposalOf(proposals, event.step),
      outcome: decision?.verdict ?? action,
      isDecided: evaluation !== null,
      isAccepted: isAccepted(action),
      rollouts: (evaluation?.scores.length ?? 0) + (decision?.confirmation?.length ?? 0),
      incumbent: before!.current.skill,
      candidate: before!.draft.candidateSkill!,
    },
  ];
}
