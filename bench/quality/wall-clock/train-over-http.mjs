// The package as it is installed, in a process of its own: reads its task from standard input, trains over HTTP, and prints what it
// took as JSON. Time is counted without loading the package; processor time and memory are those of the whole process.
import { json } from 'node:stream/consumers';
import { openaiCompatible, runDirectory, SimpleQAEnv, SkillOptTrainer } from 'skillopt';

const { url, folder, config, train, val, skill } = await json(process.stdin);
const start = performance.now();
const model = (name) => openaiCompatible({ model: name, baseURL: url, apiKey: 'none', sendSeed: true });
await new SkillOptTrainer({
  config,
  env: new SimpleQAEnv({ trainItems: train, valItems: val, testItems: [], initialSkill: skill }),
  target: model('sim-target'),
  optimizer: model('sim-optimizer'),
  store: runDirectory(folder),
}).train();
const ms = performance.now() - start;
const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
console.log(JSON.stringify({ ms, cpuMs: (userCPUTime + systemCPUTime) / 1000, peakMb: maxRSS / 1024 }));
