// `npm test`: lint, types and unused exports one after the other, with the tests beside them, which leave a core idle now and then.
// With --all the heavy tests follow. Other arguments are for vitest. Exit code 1 when anything failed.
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';

const words = process.argv.slice(2).filter((word) => word !== '--all');
const isAll = process.argv.includes('--all');

/** Runs a command; its output is shown as it comes, or only if it fails. */
function run(name, [command, ...args], { isShown = false } = {}) {
  const start = Date.now();
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk) => {
      if (isShown) process.stdout.write(chunk);
      else output += chunk;
    });
  }
  return new Promise((resolve) => {
    child.on('close', (code) => {
      const isGood = code === 0;
      const took = `${((Date.now() - start) / 1000).toFixed(0)} s`;
      console.log(`${name}: ${isGood ? 'good' : 'failed'}, ${took}${isGood ? '' : `\n${output}`}`);
      resolve({ name, isGood, took });
    });
  });
}

async function runChecks() {
  const runCheck = (name) => run(name, ['npm', 'run', '--silent', name]);
  return [await runCheck('lint'), await runCheck('types'), await runCheck('unused')];
}

const [checks, tests] = await Promise.all([
  runChecks(),
  run('tests', ['npx', 'vitest', 'run', ...words], { isShown: true }),
]);
const parts = [...checks, tests];
if (isAll)
  parts.push(
    await run('heavy tests', ['npx', 'vitest', 'run', '--config', 'vitest.heavy.config.ts'], { isShown: true }),
  );

mkdirSync('.cache', { recursive: true });
const failed = checks.filter(({ isGood }) => !isGood).length;
writeFileSync('.cache/checks.json', JSON.stringify({ passed: checks.length - failed, failed }));
console.log(parts.map(({ name, isGood, took }) => `${name}: ${isGood ? 'good' : 'failed'}, ${took}`).join('\n'));
process.exit(parts.every(({ isGood }) => isGood) ? 0 : 1);
