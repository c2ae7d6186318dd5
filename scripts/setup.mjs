// Installs dependencies when package-lock.json is newer than what is installed, and builds the page when its sources are newer than
// what was built; otherwise does nothing.
import { execSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const timeOf = (path) => (existsSync(path) ? statSync(path).mtimeMs : 0);

const isInstalled = timeOf('node_modules/.package-lock.json') >= timeOf('package-lock.json');
if (!isInstalled) execSync('npm ci --no-audit --no-fund', { stdio: 'inherit' });

const sources = ['src/web', 'src/core'].flatMap((folder) =>
  readdirSync(folder, { recursive: true }).map((path) => join(folder, path)),
);
const newest = ['vite.config.ts', ...sources].reduce((time, path) => Math.max(time, timeOf(path)), 0);
if (timeOf('dist/web/index.html') < newest) execSync('npm run --silent build:web', { stdio: 'inherit' });
