// A gate of your own: a rule decides which candidates are taken, and asks for the attempts that it wants to see first.
import assert from 'node:assert/strict';
import { type AcceptanceRule, memoryRun, pairedRule, SimpleQAEnv, SkillOptTrainer } from 'skillopt';
import { createWorld, simulatedOptimizer, simulatedTarget } from 'skillopt/sim';
import { itemMean } from 'skillopt/stats';

const PROBES = 4;

/** Some tasks are attempted three times by both skills. What loses there is out; about the others the usual rule decides. */
const probeFirst: AcceptanceRule = (evidence, context) => {
  const probes = context.order.slice(0, PROBES);
  if (evidence.rounds.length < 3) {
    return { verdict: 'continue', reason: 'the probes are not done', candidate: probes, current: probes };
  }
  const gains = probes.map((id) => {
    const [candidate, current] = [evidence.candidate.get(id), evidence.current.own.get(id)];
    return candidate && current ? itemMean(candidate) - itemMean(current) : 0; // an attempt that met an outage has no score
  });
  const gain = gains.reduce((sum, each) => sum + each, 0) / PROBES;
  if (gain < 0) return { verdict: 'reject', reason: `lost ${(-gain).toFixed(2)} on the probes` };
  return pairedRule(evidence, context);
};

const { items, initialSkill } = createWorld({ train: 24, val: 20, test: 20 });
const store = memoryRun();
const trainer = new SkillOptTrainer({
  config: { numEpochs: 2, batchSize: 8 },
  env: new SimpleQAEnv({ trainItems: items.train, valItems: items.val, testItems: items.test, initialSkill }),
  target: simulatedTarget(),
  optimizer: simulatedOptimizer(),
  gate: probeFirst,
  store,
});
const summary = await trainer.train();

const reasons = store.events.flatMap((event) => ('decision' in event && event.decision ? [event.decision.reason] : []));
for (const reason of reasons) console.log(reason);
console.log(`test ${summary.baselineTestHard} → ${summary.testHard}`);
assert(
  reasons.some((reason) => reason.startsWith('lost ')),
  'the rule must have turned something down',
);
assert(summary.testHard! > summary.baselineTestHard!, 'the trained skill must do better on tasks it has never seen');
