/**
 * `npm run release` says what stands against a release, and publishes nothing. `npm run release -- --publish` publishes the package
 * that was checked, and tags the commit. `--without-tests` is for a look at everything else: such a tree is not published.
 */
import { spawnSync } from 'node:child_process';
import pc from 'picocolors';
import { buildAndPack, checkedPackage } from './package.ts';
import { findOddContents, findSecrets } from './package-contents.ts';
import { findBrokenTypes, findMissingImports, findWrongStart, lintPackage } from './package-use.ts';
import { type Check, sourceChecks, version } from './source-checks.ts';

const FLAGS = ['--publish', '--without-tests'];
const words = process.argv.slice(2);
const unknown = words.filter((word) => !FLAGS.includes(word));
if (unknown.length > 0) end(2, `Unknown: ${unknown.join(' ')}. Known: ${FLAGS.join(' ')}`);
const isTested = !words.includes('--without-tests');
if (!isTested && words.includes('--publish')) end(2, 'What was not tested is not published: leave out --without-tests');

const build: Check = { name: 'build', about: 'compiles, and is packed', find: buildAndPack };

const packageChecks: readonly Check[] = [
  { name: 'contents', about: 'what was committed and what was built, and nothing else', find: findOddContents },
  { name: 'secrets', about: 'no file holds a key', find: findSecrets },
  { name: 'publint', about: 'exports and files fit together', find: lintPackage },
  { name: 'imports', about: 'all that is imported comes with the package', find: findMissingImports },
  { name: 'types', about: 'strict programs compile against every door', find: findBrokenTypes },
  { name: 'start', about: 'doors, commands and the server open, and tell the version', find: findWrongStart },
];

const tests: Check = {
  name: 'tests',
  about: 'npm run test:all',
  find: () => {
    const { status } = spawnSync('npm', ['run', '--silent', 'test:all'], { stdio: ['ignore', 'inherit', 'inherit'] });
    return status === 0 ? [] : ['npm run test:all failed'];
  },
};

// Each stage costs more than the one before: it begins when nothing stands against the ones before.
await pass(sourceChecks);
await pass([build]);
const checked = checkedPackage();
await pass(packageChecks);
if (isTested) await pass([tests]);
const now = checkedPackage();
if (now.sha256 !== checked.sha256) end(1, `${checked.tarball} is no longer the package that was checked.`);
if (now.commit !== checked.commit)
  end(1, `Commit ${checked.commit} was checked, and ${now.commit} is checked out now.`);
if (!isTested) end(0, `Nothing stands against version ${version} so far. The tests were not run.`);
if (!words.includes('--publish')) end(0, `Version ${version} can be released: npm run release -- --publish`);
for (const [command, ...rest] of [
  ['npm', 'publish', checked.tarball],
  ['git', 'tag', `v${version}`, checked.commit],
]) {
  const { status } = spawnSync(command!, rest, { stdio: 'inherit' });
  if (status !== 0) end(1, `${command} ${rest.join(' ')} failed.`);
}
end(0, `Version ${version} is published. Push the tag: git push origin v${version}`);

async function pass(stage: readonly Check[]): Promise<void> {
  let found = 0;
  for (const check of stage) found += report(check, await check.find());
  if (found > 0) end(1, `Not to be released: ${found} of these stand against version ${version}.`);
}

function report({ name, about }: Check, problems: readonly string[]): number {
  const mark = problems.length === 0 ? pc.green('✓') : pc.red('✗');
  console.log([`${mark} ${name}: ${about}`, ...problems.map((line) => `    ${line}`)].join('\n'));
  return problems.length;
}

function end(code: number, line: string): never {
  console.log(code === 0 ? line : pc.red(line));
  process.exit(code);
}
