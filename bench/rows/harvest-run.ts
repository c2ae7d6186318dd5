// A process of its own, so that its memory is its own: `harvest` or `parse` of all sessions in a home.

import { findSource } from '../../src/transcripts/index.ts';
import { readRecords } from '../../src/transcripts/read/lines.ts';

const [way, home = ''] = process.argv.slice(2);
const source = findSource('claude');
const place = { env: {}, home, platform: process.platform };
const files = (await Promise.all(source.roots(place).map((root) => source.list(root)))).flat();

let count = 0;
const read = async (file: (typeof files)[number]) => {
  if (way === 'harvest') count += (await source.read(file, { place })).sessions.length;
  else await readRecords({ path: file.path }, () => count++);
};
/** The first ones also compile the code, for both ways alike. */
const PASSES = 6;

async function pass() {
  count = 0;
  const [started, cpuBefore] = [performance.now(), process.cpuUsage()];
  for (const file of files) await read(file);
  const ms = performance.now() - started;
  const { user, system } = process.cpuUsage(cpuBefore);
  return { ms, cpuMs: (user + system) / 1000 };
}

const passes = [];
for (let time = 0; time < PASSES; time++) passes.push(await pass());
const ms = Math.min(...passes.map((one) => one.ms));
const cpuMs = Math.min(...passes.map((one) => one.cpuMs));
process.send!({ ms, cpuMs, count, peakBytes: process.resourceUsage().maxRSS * 1024 });
