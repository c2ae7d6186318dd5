import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';

const { exports } = JSON.parse(readFileSync('package.json', 'utf8')) as { exports: Record<string, unknown> };
const doors = Object.keys(exports).filter((door) => door !== './package.json');

/** A program that opens every door and writes a project file in TypeScript. */
const PROGRAM = `${doors.map((door, index) => `export * as door${index} from '${door.replace('.', 'skillopt')}';`).join('\n')}
import { defineConfig } from 'skillopt';
export default defineConfig({ name: 'mine', tasks: 'tasks.csv', target: 'simulated', optimizer: 'simulated' });
`;

// `npm run release` does the same with TypeScript 7, and test/e2e/release.heavy.ts runs it.
it('a strict program that checks the types of its libraries compiles against the package with TypeScript 6', () => {
  const folder = mkdtempSync('.cache/consumer-'); // below the clone, whose dependencies are those of the package
  try {
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(resolve('.cache/package'), join(folder, 'node_modules/skillopt'), 'junction');
    const strictness = { strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false };
    const compilerOptions = {
      module: 'nodenext',
      moduleResolution: 'nodenext',
      ...strictness,
      target: 'es2022',
      noEmit: true,
      types: ['node'],
    };
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['index.ts'] }));
    writeFileSync(join(folder, 'index.ts'), PROGRAM);
    const compile = () => execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', folder]);
    expect(compile).not.toThrow();
  } finally {
    rmSync(folder, { recursive: true });
  }
});
