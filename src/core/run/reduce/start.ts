import { openEvidence } from '../../gate/gate-evidence.ts';
import { skillHash } from '../../skill/skill-hash.ts';
import type { RunEvent } from '../event.ts';
import { type RunState, unscored } from '../run-state.ts';
import { timeOfRollout } from '../stage-usage.ts';
import { recordPass } from './passes.ts';

type Event<Type extends RunEvent['type']> = Extract<RunEvent, { type: Type }>;

export function startRun(state: RunState, event: Event<'run-start'>): RunState {
  const { config, initialSkill, skillSource, projectFile, isRunNamed, totalSteps, items, drafts, at } = event;
  const named = { ...(projectFile ? { projectFile } : {}), ...(isRunNamed ? { isRunNamed } : {}) };
  const source = { ...(skillSource ? { skillSource } : {}), ...named };
  const about = { env: event.env, target: event.target, optimizer: event.optimizer };
  const seed = { ...unscored, skill: initialSkill, hash: skillHash(initialSkill) };
  const facts = { config, about, initialSkill, ...source, totalSteps, items, ...(drafts ? { drafts } : {}) };
  return { ...state, ...facts, current: seed, best: seed, startedAt: at };
}

/** The seed skill is the first to beat, and all that is known of it. */
export function setBaseline(state: RunState, event: Event<'baseline-end'>): RunState {
  const { evaluation, score, passes = [] } = event;
  const seed = { ...state.current, score };
  const baseline = { hard: evaluation.hard, soft: evaluation.soft, score };
  const all = [evaluation, ...passes].map((pass) => pass.scores);
  const gate = state.config ? openEvidence(all, state.config) : state.gate;
  const rolloutMs = timeOfRollout(event);
  return recordPass({ ...state, gate, current: seed, best: seed, baseline, rolloutMs }, seed.hash, evaluation);
}
