// The trainer's side: a gateway for each attempt in one process, which reports its memory.
import { startModelGateway } from 'skillopt/models';

const [attempts = '65', provider = ''] = process.argv.slice(2);
const upstream = { baseURL: provider, auth: { header: 'x-api-key', value: 'the-key' } };
const gateways = await Promise.all(
  Array.from({ length: Number(attempts) }, () => startModelGateway({ upstream, listen: { port: 0 } })),
);
let peak = 0;
setInterval(() => {
  peak = Math.max(peak, process.memoryUsage.rss());
}, 10);
process.on('message', (message) => {
  if (message === 'end') process.exit(0);
  if (message === 'begin') {
    globalThis.gc?.();
    peak = process.memoryUsage.rss();
  }
  process.send?.({ peak });
});
process.send?.({ urls: gateways.map(({ url }) => url) });
