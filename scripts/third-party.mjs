// Writes THIRD_PARTY.md: the packages whose code is inside the package, with their licences, and the packages that are installed with it.
// `--check` writes nothing, and ends with 1 where the page is out of date.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'vite';

const PAGE = 'THIRD_PARTY.md';
/** Licences that ask no more than to be named and handed on. Another one is for a person to look at. */
const PERMISSIVE = /^\(?(?:MIT|ISC|Apache-2\.0|BSD-2-Clause|BSD-3-Clause|0BSD|AFL-2\.1|BlueOak-1\.0\.0| OR )+\)?$/;

const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
const isInstalled = ([path, { dev, devOptional, peer }]) => path !== '' && !dev && !devOptional && !peer;
const installed = Object.entries(packages)
  .filter(isInstalled)
  .map(([path, { version, license = 'none named' }]) => ({ name: nameOf(path), version, license }));

/** Bundled into the page alone: the rest of our code leaves its packages outside. */
const bundled = (await packagesOfPage()).map((name) => ({
  name,
  ...packages[`node_modules/${name}`],
  text: licenceOf(name),
}));

const odd = [...installed, ...bundled].filter(({ license }) => !PERMISSIVE.test(license));
if (odd.length > 0) {
  console.error(
    odd
      .map(({ name, license }) => `${name}: the licence ${license} is not one of those that are known to be fine`)
      .join('\n'),
  );
  process.exit(1);
}

const rows = unique(installed.map(({ name, version, license }) => `| ${name} | ${version} | ${license} |`));
const page = `# Third-party software

Written by \`node scripts/third-party.mjs\`.

## Inside this package

The page of \`skillopt ui\` and \`skillopt report\` (\`dist/web\`) holds code of these packages.

${bundled.map(({ name, version, license, text }) => `### ${name} ${version} (${license})\n\n\`\`\`text\n${text}\n\`\`\``).join('\n\n')}

## Installed beside it

Each brings its own licence. Of the packages \`@libsql/…\` those for your system are installed.

| package | version | licence |
|---|---|---|
${rows.join('\n')}
`;

if (!process.argv.includes('--check')) writeFileSync(PAGE, page);
else if (!existsSync(PAGE) || readFileSync(PAGE, 'utf8') !== page) {
  console.error(`${PAGE} is out of date: node scripts/third-party.mjs writes it`);
  process.exit(1);
}

async function packagesOfPage() {
  const found = new Set();
  const generateBundle = (_options, bundle) => {
    for (const { moduleIds = [] } of Object.values(bundle)) for (const id of moduleIds) found.add(nameOf(id));
  };
  const plugins = [{ name: 'list-packages', generateBundle }];
  await build({
    configFile: resolve('vite.config.ts'),
    root: resolve('src/web'),
    logLevel: 'warn',
    build: { write: false },
    plugins,
  });
  found.delete(undefined);
  return [...found].sort();
}

function nameOf(path) {
  return /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1];
}

function licenceOf(name) {
  const folder = join('node_modules', name);
  const file = readdirSync(folder).find((entry) => /^licen[sc]e/i.test(entry));
  if (file === undefined) throw new Error(`${name} has no licence file`);
  return readFileSync(join(folder, file), 'utf8').replaceAll('\r', '').trim();
}

function unique(lines) {
  return [...new Set(lines)].sort();
}
