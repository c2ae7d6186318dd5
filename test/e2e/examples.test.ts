import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';

it.each(readdirSync('examples').filter((name) => name.endsWith('.ts')))('examples/%s asserts and ends well', (name) => {
  const directory = mkdtempSync(join(tmpdir(), 'skillopt-example-'));
  try {
    const output = execFileSync(process.execPath, ['--import', 'tsx', `examples/${name}`, join(directory, 'run')], {
      encoding: 'utf8',
    });
    expect(output).not.toBe('');
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
