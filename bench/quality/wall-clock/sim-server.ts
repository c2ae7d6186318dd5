// tsx sim-server.ts SEED LATENCY_MS: the world's models behind HTTP, in a process of their own, as a provider's would be.
// Sends its address, and after each message how often the target was called. Ends when its parent does.
import type { ChatModel } from '../../../src/index.ts';
import { serveSim, simulatedOptimizer, simulatedTarget } from '../../../src/public/sim.ts';
import { delayed } from './delayed.ts';
import { NOISE, OPTIMIZER } from './setting.ts';

const [seed, ms] = process.argv.slice(2).map(Number) as [number, number];
let targetCalls = 0;
const target = delayed(simulatedTarget({ noise: NOISE, seed }), ms);
const counted: ChatModel = {
  ...target,
  complete(request) {
    targetCalls++;
    return target.complete(request);
  },
};
const optimizer = delayed(simulatedOptimizer({ ...OPTIMIZER, seed }), ms);
const server = await serveSim({ target: counted, optimizer });
process.send!(server.url);
process.on('message', () => process.send!(targetCalls));
process.on('disconnect', () => process.exit());
