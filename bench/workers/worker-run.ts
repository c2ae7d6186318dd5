// A worker of the bench. It tells which tasks it begins if it is asked to, and on request what CPU it has used. It ends with its parent.
import { parseConfig } from 'skillopt';
import { serveRollouts } from 'skillopt/workers';
import { fingerprintOf, type Work, workEnv } from './work.ts';

const [url = '', works = '', tasks = '', concurrency = '', tells = ''] = process.argv.slice(2);
const work = JSON.parse(works) as Work;
const { rolloutTimeoutMs, callTimeoutMs } = parseConfig({});
await serveRollouts({
  ...{ url, fingerprint: fingerprintOf(work), env: workEnv(work, Number(tasks)), extras: {} },
  ...{ rolloutTimeoutMs, callTimeoutMs, concurrency: Number(concurrency) },
  onEvent: (event) => void (tells && event.type === 'begin' && process.send?.({ begun: event.item })),
});
process.on('message', () => process.send?.({ cpu: process.cpuUsage() }));
process.on('disconnect', () => process.exit(0));
process.send?.({ ready: true });
