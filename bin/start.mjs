import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const here = (path) => new URL(path, import.meta.url);
const source = here('../src/cli/index.ts');

// Scripts ask for the version before anything else: nothing is loaded for that.
const words = process.argv.slice(2);
if (words.length === 1 && ['--version', '-V', '-v'].includes(words[0])) {
  console.log(JSON.parse(readFileSync(here('../package.json'), 'utf8')).version);
  process.exit(0);
}

// In a clone the sources run as they are; the published package has only the compiled ones.
const isClone = existsSync(source);
if (isClone && !existsSync(here('../node_modules/tsx'))) {
  console.error('error: the dependencies are not installed: run `npm install` first');
  process.exit(2);
}
if (isClone) {
  const { register } = await import('tsx/esm/api');
  register({ tsconfig: fileURLToPath(here('../tsconfig.json')) });
}
const { start } = await import(isClone ? source.href : here('../dist/cli/index.js').href).catch((error) => {
  if (error.code !== 'EMFILE') throw error;
  console.error(
    `error: too many files are open: ${error.message}\nhint: allow this process more of them: ulimit -n 1024`,
  );
  process.exit(2);
});

/** Runs this process as the command `name`. */
export const run = (name) => start(process, name);
