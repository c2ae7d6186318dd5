// Reads one file of tasks with the packed tool, and says how long it took and what it needed at most.
import { loadTasks } from '../../.cache/package/dist/public/envs.js';

const started = performance.now();
const { rows } = await loadTasks(process.argv[2]);
const ms = performance.now() - started;
const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
const cpuMs = (userCPUTime + systemCPUTime) / 1_000;
process.send({ ms, cpuMs, count: rows.length, peakBytes: maxRSS * 1024 });
