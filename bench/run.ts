// npm run bench [-- NAME] [--only PART] [--json]: every figure we promise, measured on this machine.
// `--only report:` measures the functions of the row `fuzz` whose names hold that.
import { parseArgs } from 'node:util';
import packPackage from '../test/support/package.ts';
import { align } from './align.ts';
import { demos } from './demos.ts';
import { estimate } from './estimate.ts';
import { adoptKill } from './kills/adopt-kill.ts';
import { applyKill } from './kills/apply-kill.ts';
import { costsAfterKills } from './kills/costs-after-kills.ts';
import { kill } from './kills/kill.ts';
import { killNight } from './kills/kill-night.ts';
import { rolloutKill } from './kills/rollout-kill.ts';
import { loopback } from './loopback/loopback.ts';
import { pageBrowser } from './page-browser.ts';
import { pageServer } from './page-server.ts';
import type { BenchRow, Measured } from './row.ts';
import { chaos } from './rows/chaos.ts';
import { cpu } from './rows/cpu.ts';
import { foreignText } from './rows/foreign-text.ts';
import { fuzz } from './rows/fuzz.ts';
import { gatewayAbuse } from './rows/gateway-abuse.ts';
import { harvest } from './rows/harvest.ts';
import { harvestProse } from './rows/harvest-prose.ts';
import { help, version } from './rows/help.ts';
import { importFidelity } from './rows/import-fidelity.ts';
import { killedJournal, longJournal, wideJournal } from './rows/long-journal.ts';
import { mcpStart } from './rows/mcp-start.ts';
import { memory } from './rows/memory.ts';
import { mine } from './rows/mine.ts';
import { nightOverhead } from './rows/night-overhead.ts';
import { overhead } from './rows/overhead.ts';
import { promptfoo } from './rows/promptfoo.ts';
import { rateLimit } from './rows/rate-limit.ts';
import { sharedCache } from './rows/shared-cache.ts';
import { sleepIndexOverview, sleepIndexUnchanged } from './rows/sleep-index.ts';
import { tokens } from './rows/tokens.ts';
import { taskFiles } from './task-files/task-files.ts';
import { workbooks } from './workbooks/workbooks.ts';
import { workers } from './workers/workers.ts';
import { workspaces } from './workspaces.ts';

const rows: readonly BenchRow[] = [
  help,
  version,
  mcpStart,
  cpu,
  overhead,
  nightOverhead,
  tokens,
  taskFiles,
  workbooks,
  demos,
  importFidelity,
  promptfoo,
  estimate,
  foreignText,
  fuzz,
  harvest,
  harvestProse,
  loopback(50, 0.95),
  loopback(200, 0.98),
  rateLimit,
  gatewayAbuse,
  chaos,
  memory,
  mine,
  longJournal,
  killedJournal,
  wideJournal,
  kill,
  adoptKill,
  applyKill(),
  killNight,
  costsAfterKills,
  workspaces('overlay'),
  workspaces('copy'),
  rolloutKill('bubblewrap'),
  rolloutKill('none'),
  sharedCache,
  sleepIndexUnchanged,
  sleepIndexOverview,
  ...workers,
  ...pageServer,
  ...pageBrowser,
];

const { values, positionals } = parseArgs({
  options: { json: { type: 'boolean', default: false }, only: { type: 'string' } },
  allowPositionals: true,
});
const chosen = positionals.length === 0 ? rows : rows.filter(({ name }) => positionals.includes(name));
if (chosen.length === 0) {
  console.error(
    `no row is called ${positionals.join(' ')}; there are ${[...new Set(rows.map(({ name }) => name))].join(', ')}`,
  );
  process.exit(2);
}

packPackage();

type Result = Omit<BenchRow, 'run'> & Measured;
const results: Result[] = [];
for (const { run, ...row } of chosen) {
  const say = (progress: string) => process.stderr.write(`${row.name}: ${progress}\n`);
  const measured = await run(say, values.only).catch(
    (error): Measured => ({ measured: `failed: ${error.message}`, holds: false, figures: {} }),
  );
  results.push({ ...row, ...measured });
  say(measured.measured);
}

const held = results.filter(({ holds }) => holds).length;
const verdict = `rows: ${held} of ${results.length} hold`;
if (values.json) console.log(JSON.stringify({ rows: results, held, total: results.length, verdict }, null, 2));
else console.log(`${table(results)}\n${verdict}`);
process.exit(held === results.length ? 0 : 1);

function table(lines: readonly Result[]): string {
  const cells = lines.map(({ what, goal, measured, holds }) => [what, goal, measured, holds ? 'yes' : 'NO']);
  return align([['what', 'goal', 'measured', 'holds'], ...cells]);
}
