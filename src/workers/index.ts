export { agentElsewhere } from './agent-elsewhere.ts';
export { examineQueue, type QueueFacts, type WorkerFacts } from './examine-queue.ts';
export { type Fingerprint, hashOf } from './handshake.ts';
export { type RunElsewhereOptions, runElsewhere } from './run-elsewhere.ts';
export { type RolloutWorker, type ServeRolloutsOptions, serveRollouts, type WorkerEvent } from './serve-rollouts.ts';
