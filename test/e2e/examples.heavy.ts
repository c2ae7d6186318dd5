import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { programArgs } from '../support/compiled.ts';

it.each(readdirSync('examples').filter((name) => name.endsWith('.ts')))('examples/%s asserts and ends well', (name) => {
  const directory = mkdtempSync(join(tmpdir(), 'skillopt-example-'));
  try {
    const output = execFileSync(process.execPath, [...programArgs(`examples/${name}`), join(directory, 'run')], {
      encoding: 'utf8',
    });
    expect(output).not.toBe('');
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
