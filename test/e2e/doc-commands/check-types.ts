import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import ts from 'typescript';

/** What the compiler says of programs by name, with the settings of the clone. In one pass, since most time goes into reading. */
export function typeErrors(programs: Readonly<Record<string, string>>): string[] {
  mkdirSync('.cache', { recursive: true });
  const folder = resolve(mkdtempSync('.cache/doc-programs-')); // below the clone, whose dependencies they may import
  try {
    const files = Object.entries(programs).map(([name, text], at) => {
      const file = join(folder, `${at}.ts`);
      writeFileSync(file, text);
      return { name, file };
    });
    const { config } = ts.readConfigFile('tsconfig.json', ts.sys.readFile);
    const { options } = ts.parseJsonConfigFileContent({ ...config, include: [] }, ts.sys, resolve('.'));
    const program = ts.createProgram(
      files.map(({ file }) => file),
      options,
    );
    return files.flatMap(({ name, file }) => {
      const source = program.getSourceFile(file)!;
      const found = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
      return found.map(({ messageText, start = 0 }) => {
        const line = source.getLineAndCharacterOfPosition(start).line + 1;
        return `${name}, line ${line} of the block: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
      });
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
