import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What the compiler says of programs by name, with the settings of the clone. In one pass, since most time goes into reading. */
export function typeErrors(programs: Readonly<Record<string, string>>): string[] {
  mkdirSync('.cache', { recursive: true });
  const folder = mkdtempSync('.cache/doc-programs-'); // below the clone, whose dependencies they may import
  try {
    const names = Object.keys(programs);
    for (const [at, text] of Object.values(programs).entries()) writeFileSync(join(folder, `${at}.ts`), text);
    writeFileSync(join(folder, 'tsconfig.json'), '{ "extends": "../../tsconfig.json", "include": ["*.ts"] }');
    const compiler = 'node_modules/typescript-native/bin/tsc';
    const { stdout, status } = spawnSync(process.execPath, [compiler, '-p', folder, '--pretty', 'false'], {
      encoding: 'utf8',
    });
    const found = [...stdout.matchAll(/(\d+)\.ts\((\d+),\d+\): error (.*)/g)];
    if (status !== 0 && found.length === 0) throw new Error(`the compiler failed: ${stdout}`);
    return found.map(([, at, line, message]) => `${names[Number(at)]}, line ${line} of the block: ${message}`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
