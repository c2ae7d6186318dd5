// Installs dependencies when package-lock.json is newer than what is installed; otherwise does nothing.
import { execSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';

const installed = 'node_modules/.package-lock.json';
const isFresh = existsSync(installed) && statSync(installed).mtimeMs >= statSync('package-lock.json').mtimeMs;
if (!isFresh) execSync('npm ci --no-audit --no-fund', { stdio: 'inherit' });
