/**
 * `npm run release` says what stands against a release, and publishes nothing. `npm run release -- --publish` publishes the package
 * that was checked, and tags the commit. `--without-tests` is for a look at everything else: such a tree is not published.
 */
import { spawnSync } from 'node:child_process';
import pc from 'picocolors';
import { packageChecks, tarball } from './package-checks.ts';
import { type Check, sourceChecks, version } from './source-checks.ts';

const FLAGS = ['--publish', '--without-tests'];
const words = process.argv.slice(2);
const unknown = words.filter((word) => !FLAGS.includes(word));
if (unknown.length > 0) end(2, `Unknown: ${unknown.join(' ')}. Known: ${FLAGS.join(' ')}`);
const isTested = !words.includes('--without-tests');
if (!isTested && words.includes('--publish')) end(2, 'What was not tested is not published: leave out --without-tests');

const tests: Check = {
  name: 'tests',
  about: 'npm run test:all',
  find: () => {
    const { status } = spawnSync('npm', ['run', '--silent', 'test:all'], { stdio: ['ignore', 'inherit', 'inherit'] });
    return status === 0 ? [] : ['npm run test:all failed'];
  },
};

// Each stage costs more than the one before: it begins when nothing stands against the ones before.
const [build, ...ofPackage] = packageChecks;
const stages: readonly (readonly Check[])[] = [sourceChecks, [build!], ofPackage, ...(isTested ? [[tests]] : [])];

let found = 0;
for (const stage of stages) {
  for (const check of stage) found += report(check, await check.find());
  if (found > 0) end(1, `Not to be released: ${found} of these stand against version ${version}.`);
}
if (!isTested) end(0, `Nothing stands against version ${version} so far. The tests were not run.`);
if (!words.includes('--publish')) end(0, `Version ${version} can be released: npm run release -- --publish`);
for (const [command, ...rest] of [
  ['npm', 'publish', tarball()],
  ['git', 'tag', `v${version}`],
]) {
  const { status } = spawnSync(command!, rest, { stdio: 'inherit' });
  if (status !== 0) end(1, `${command} ${rest.join(' ')} failed.`);
}
end(0, `Version ${version} is published. Push the tag: git push origin v${version}`);

function report({ name, about }: Check, problems: readonly string[]): number {
  const mark = problems.length === 0 ? pc.green('✓') : pc.red('✗');
  console.log([`${mark} ${name}: ${about}`, ...problems.map((line) => `    ${line}`)].join('\n'));
  return problems.length;
}

function end(code: number, line: string): never {
  console.log(code === 0 ? line : pc.red(line));
  process.exit(code);
}
