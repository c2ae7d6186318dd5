// Bundles the compiled modules in dist into few files: a command that loads hundreds of small ones takes a second to begin.
// What is entered from outside keeps its place; the rest goes to dist/chunks. Declarations, prompts and scripts stay as they are.
import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
const made = join(root, '.cache/bundle');

/** What is entered from outside: the command, and what the package exports. `import()` of our own modules makes more entries. */
const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const exported = Object.values(exports).flatMap(({ default: file }) =>
  file === undefined ? [] : [resolve(root, file)],
);
const entries = [join(dist, 'cli/index.js'), ...exported];

const nameOf = (path) => relative(dist, path).replaceAll(sep, '/');

/** A module finds prompts, scripts and package.json beside itself: its `import.meta.url` is the one that it had. */
const keepAddresses = {
  name: 'keep-addresses',
  transform(code, path) {
    return code.replaceAll('import.meta.url', `new URL("@dist/${nameOf(path)}", import.meta.url).href`);
  },
  renderChunk(code, { fileName }) {
    const up = '../'.repeat(fileName.split('/').length - 1) || './';
    return code.replaceAll('"@dist/', `"${up}`);
  },
};

/** A door that `import()` names would be an entry, and loaded whole by all who need one name of it: a module before it is the entry. */
const lazyDoors = {
  name: 'lazy-doors',
  resolveId(name, importer, { kind }) {
    const isDoor = kind === 'dynamic-import' && /^\..*\/index\.js$/.test(name);
    return isDoor ? `${resolve(dirname(importer), dirname(name))}.later.js` : undefined;
  },
  load: (path) =>
    path.endsWith('.later.js') ? `export * from './${basename(path, '.later.js')}/index.js';` : undefined,
};

/** A file that is imported for its effects alone: there are none, so it is not loaded. */
const withoutEffects = {
  name: 'without-effects',
  renderChunk: (code) => code.replace(/^import "\.[^"]*";\n/gm, ''),
};

const bundle = await rolldown({
  input: Object.fromEntries(entries.map((path) => [nameOf(path).replace(/\.js$/, ''), path])),
  platform: 'node',
  external: (name) => !/^[./]/.test(name) && !name.startsWith(root), // packages and Node
  treeshake: { moduleSideEffects: false }, // no module does anything but declare: what is not used is not loaded
  plugins: [keepAddresses, lazyDoors, withoutEffects],
});
await bundle.write({
  dir: made,
  cleanDir: true,
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: 'chunks/[name].js',
  minify: false, // stacks are read by people
});

for (const path of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
  if (path.endsWith('.js')) rmSync(join(dist, path));
}
cpSync(made, dist, { recursive: true });
rmSync(made, { recursive: true });
