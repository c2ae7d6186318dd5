import { memoryRun, type RunEvent, runDirectory, SkillOptTrainer, scripted } from 'skillopt';
import { beforeAll, expect, it } from 'vitest';
import { classifyEnv, LABELS } from '../../../examples/classify/classify-env.ts';
import { scriptedProposals } from '../../../examples/classify/proposals.ts';
import { scriptedOptimizer } from '../../../examples/classify/scripted-optimizer.ts';
import { ofStage, ofType } from '../../support/scripted-run.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const splits = await Promise.all(['train', 'val', 'test'].map((split) => classifyEnv.getItems(split)));
const labels = new Map(splits.flat().map(({ text, label }) => [text, label]));

/** Right for every message as soon as the skill shows each label equally often, and sure of being happy until then. */
const target = scripted('balanced', ({ messages }) => {
  const [skill, question] = messages.map(({ content }) => content);
  const counts = LABELS.map((label) => skill!.split(`Label: ${label}`).length - 1);
  const isBalanced = counts[0]! > 0 && new Set(counts).size === 1;
  return isBalanced ? labels.get(/^Message: (.*)$/m.exec(question!)![1]!)! : 'happy';
});

const proposals = scriptedProposals(splits[0]!);
const events: RunEvent[] = [];

beforeAll(async () => {
  const optimizer = scriptedOptimizer(proposals);
  const observers = [{ onEvent: (event: RunEvent) => void events.push(event) }];
  await new SkillOptTrainer({ env: classifyEnv, target, optimizer, observers, store: memoryRun() }).train();
});

it('proposes one edit a step, in turn, and has enough for a default run', () => {
  const selected = ofStage(events, 'select').map(({ patch }) => patch);
  const planned = proposals.map(({ name }) => name);
  expect(selected.length).toBeGreaterThan(2);
  expect(selected.map(({ edits }) => edits.length)).toEqual(selected.map(() => 1));
  expect(selected.map(({ reasoning }) => reasoning)).toEqual(planned.slice(0, selected.length));
  expect(ofType(events, 'run-start')[0]!.totalSteps).toBeLessThanOrEqual(planned.length);
  expect(new Set(planned.filter((name) => name.startsWith('examples'))).size).toBe(16);
});

it('shows training messages only, so that nothing is refused as a leak', () => {
  expect(ofStage(events, 'select').flatMap(({ refused = [] }) => refused)).toEqual([]);
});

it('gets its examples in, and none of the wrong labels', () => {
  const accepted = ofStage(events, 'evaluate').filter(({ action }) => action === 'accept_new_best');
  const kept = accepted.map(({ step }) => proposals[step - 1]!);
  expect(kept[0]!.name).toBe('examples 1');
  expect(kept.filter(({ intent }) => intent === 'harmful')).toEqual([]);
});

it('proposes the same on a disk, where observers hear of a step later', async () => {
  using folder = tempFolder({});
  const store = runDirectory(`${folder.path}/run`);
  await new SkillOptTrainer({ env: classifyEnv, target, optimizer: scriptedOptimizer(proposals), store }).train();
  const onDisk = ofStage(await store.read(), 'select').map(({ patch }) => patch.reasoning);
  expect(onDisk).toEqual(ofStage(events, 'select').map(({ patch }) => patch.reasoning));
});
