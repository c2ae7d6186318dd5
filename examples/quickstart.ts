// The twenty-line start: tasks, a target model and an optimizer model in; a better skill document out.
import assert from 'node:assert/strict';
import { openaiCompatible, SimpleQAEnv, SkillOptTrainer } from 'skillopt';
import { createWorld, serveSim, simulatedOptimizer, simulatedTarget } from 'skillopt/sim';

// Offline stand-ins behind a real HTTP endpoint. With models of your own, only baseURL, model and apiKey differ.
await using server = await serveSim({ target: simulatedTarget(), optimizer: simulatedOptimizer() });
const { items, initialSkill } = createWorld({ train: 24, val: 20, test: 20 });

const env = new SimpleQAEnv({ trainItems: items.train, valItems: items.val, testItems: items.test });
const target = openaiCompatible({ model: 'sim-target', baseURL: server.url, apiKey: 'none' }); // the frozen agent
const optimizer = openaiCompatible({ model: 'sim-optimizer', baseURL: server.url, apiKey: 'none' }); // reads and edits

const trainer = new SkillOptTrainer({
  config: {
    numEpochs: 2,
    batchSize: 8,
    minibatchSize: 4,
    editBudget: 4,
    outRoot: process.argv[2] ?? 'runs/quickstart',
  },
  env,
  target,
  optimizer,
  initialSkill,
});
const summary = await trainer.train();

console.log(`validation ${summary.baselineSelectionHard} → ${summary.bestSelectionScore}`);
console.log(`test       ${summary.baselineTestHard} → ${summary.testHard}`);
console.log(`the skill is in ${summary.outRoot}/best_skill.md`);
assert(summary.testHard! > summary.baselineTestHard!, 'the trained skill must do better on tasks it has never seen');
