// Lint, types, and the tests of what was touched since the last commit, side by side: what to run before each commit.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';

const { stdout } = spawnSync('git', ['status', '--porcelain', '--untracked-files=all'], { encoding: 'utf8' });
const touched = stdout
  .split('\n')
  .map((line) => line.slice(3).split(' -> ').at(-1).replaceAll('"', ''))
  .filter((path) => path !== '' && existsSync(path));

/** The tests of a file of src lie in the folder of the same name, or in the nearest one above it. */
function testsOf(path) {
  if (/^test\/.*\.test\.ts$/.test(path)) return path;
  if (!path.startsWith('src/')) return undefined;
  let folder = dirname(path).replace(/^src/, 'test/unit');
  while (folder !== 'test/unit' && !existsSync(folder)) folder = dirname(folder);
  return folder === 'test/unit' ? undefined : folder;
}

const tests = new Set(['test/architecture', ...touched.map(testsOf).filter((path) => path !== undefined)]);
const commands = {
  lint: ['npm', 'run', '--silent', 'lint'],
  types: ['npm', 'run', '--silent', 'types'],
  tests: ['npx', 'vitest', 'run', ...tests],
};

function run([name, [command, ...args]]) {
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, WITHOUT_PACKAGE: '1' },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  return new Promise((resolve) => child.on('close', (code) => resolve({ name, code, output })));
}

const start = Date.now();
let isGood = true;
for (const running of Object.entries(commands).map(run)) {
  const { name, code, output } = await running;
  isGood &&= code === 0;
  console.log(`${name}: ${code === 0 ? 'good' : `failed\n${output}`}`);
}
console.log(`${[...tests].join(' ')}\n${((Date.now() - start) / 1000).toFixed(0)} s`);
process.exit(isGood ? 0 : 1);
