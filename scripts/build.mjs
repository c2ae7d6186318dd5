// Compiles src into dist, copies what is not compiled, prompts and scripts, beside the code that uses it, bundles the code, and builds the page.
import { spawnSync } from 'node:child_process';
import { cpSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const root = fileURLToPath(new URL('..', import.meta.url));
const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript-native/package.json')), 'bin/tsc');

rmSync(join(root, 'dist'), { recursive: true, force: true });
const { status } = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: 'inherit',
});
if (status !== 0) process.exit(status ?? 1);
for (const path of readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })) {
  if (/\.(md|mjs|py)$/.test(path)) cpSync(join(root, 'src', path), join(root, 'dist', path));
}
await import('./bundle.mjs');
await build({ configFile: join(root, 'vite.config.ts'), root: join(root, 'src/web'), logLevel: 'warn' });
