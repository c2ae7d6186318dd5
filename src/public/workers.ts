/** Attempts on other machines, through a queue on Redis or Valkey. Needs the packages `bullmq` and `ioredis`. */

export {
  agentElsewhere,
  type Fingerprint,
  type RolloutWorker,
  type RunElsewhereOptions,
  runElsewhere,
  type ServeRolloutsOptions,
  serveRollouts,
  type WorkerEvent,
} from '../workers/index.ts';
