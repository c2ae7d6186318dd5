import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { parseAst } from 'rolldown/parseAst';
import { filesIn, firstLines, manifest, PACKAGE, PROJECT } from './package.ts';
import { dependencies, peerDependencies, version } from './source-checks.ts';

/** What `publint` has to say about exports and files. */
export async function lintPackage(): Promise<string[]> {
  const { messages, pkg } = await publint({ pkgDir: PACKAGE, strict: true });
  return messages.map((message) => formatMessage(message, pkg, { color: false }) ?? message.code);
}

/** Everything that is imported is installed with the package: in a clone, what only developers have is found too. */
export function findMissingImports(): string[] {
  const provided = new Set([...Object.keys(dependencies), ...Object.keys(peerDependencies), 'skillopt']);
  const built = filesIn(PACKAGE).filter((path) => path.startsWith('dist/'));
  const missing = built
    .filter((path) => /\.m?js$/.test(path))
    .flatMap((path) => {
      const packages = importsOf(parseAst(readFileSync(join(PACKAGE, path), 'utf8')))
        .filter((name) => !/^[./]|^[a-z]+:/.test(name) && !isBuiltin(name))
        .map((name) => /^(?:@[^/]+\/)?[^/]+/.exec(name)![0]);
      return [...new Set(packages)]
        .filter((name) => !provided.has(name))
        .map((name) => `${path} imports ${name}, which users do not get`);
    });
  const elsewhere = built
    .filter((path) => path.endsWith('.html'))
    .filter((path) => /\b(?:src|href)=["']?(?:https?:)?\/\//.test(readFileSync(join(PACKAGE, path), 'utf8')))
    .map((path) => `${path} loads something from another address`);
  return [...missing, ...elsewhere];
}

/** The names in `import`, `export … from`, `import()` and `require()`. */
function importsOf(node: unknown): string[] {
  if (Array.isArray(node)) return node.flatMap(importsOf);
  if (typeof node !== 'object' || node === null) return [];
  const { type, source, callee, arguments: given } = node as Record<string, unknown>;
  const isRequire = type === 'CallExpression' && (callee as { name?: string }).name === 'require';
  const isImport = /^(?:Import(?:Declaration|Expression)|Export(?:Named|All)Declaration)$/.test(String(type));
  const named = isRequire ? (given as unknown[])[0] : isImport ? source : undefined;
  const { value } = (named ?? {}) as { value?: unknown };
  return [...(typeof value === 'string' ? [value] : []), ...Object.values(node).flatMap(importsOf)];
}

/** Both ways in which programs find packages. `test/e2e/types.heavy.ts` tries TypeScript 6. */
const RESOLUTIONS = [
  ['nodenext', 'nodenext'],
  ['esnext', 'bundler'],
] as const;

export function findBrokenTypes(): string[] {
  const doors = Object.keys(manifest().exports).filter((door) => door !== './package.json');
  const program = doors.map((door, index) => `export * as door${index} from '${door.replace('.', 'skillopt')}';\n`);
  writeFileSync(join(PROJECT, 'index.ts'), program.join(''));
  writeFileSync(join(PROJECT, 'package.json'), '{ "type": "module" }');
  return RESOLUTIONS.flatMap(([module, moduleResolution]) => {
    const strictness = { strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false };
    const compilerOptions = {
      module,
      moduleResolution,
      ...strictness,
      target: 'es2022',
      noEmit: true,
      types: ['node'],
    };
    writeFileSync(join(PROJECT, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['index.ts'] }));
    const { status, stdout } = spawnSync(process.execPath, ['node_modules/typescript-native/bin/tsc', '-p', PROJECT], {
      encoding: 'utf8',
    });
    return status === 0 ? [] : firstLines(stdout).map((line) => `${moduleResolution}: ${line}`);
  });
}

const OPENING = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'release', version } };

/** As a user starts it: a project of its own, with what is installed. */
export function findWrongStart(): string[] {
  const { bin, exports } = manifest();
  const start = (words: readonly string[], input = '') =>
    spawnSync(process.execPath, words, { encoding: 'utf8', input, cwd: PROJECT, timeout: 30_000 });
  const doors = Object.keys(exports).filter((door) => door !== './package.json');
  const names = JSON.stringify(doors.map((door) => door.replace('.', 'skillopt')));
  const open = `for (const name of ${names}) await import(name).catch((error) => console.log(\`import('\${name}') fails: \${error}\`))`;
  const opened = start(['--input-type=module', '--eval', open]);
  const unopened = firstLines(opened.status === 0 ? opened.stdout : opened.stderr);
  const commands = Object.entries(bin).flatMap(([name, path]) => {
    const ask = (words: readonly string[], input?: string) => start([join(PACKAGE, path), ...words], input).stdout;
    const helps = ask(['--help']).includes('usage:');
    const told = ask(['--version']).trim();
    return [
      ...(helps ? [] : [`${name} --help: expected its usage`]),
      ...(told === version ? [] : [`${name} --version: expected ${version}, got ${told || 'nothing'}`]),
    ];
  });
  const hello = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: OPENING });
  const [answer = ''] = start([join(PACKAGE, bin.skillopt ?? ''), 'mcp'], `${hello}\n`).stdout.split('\n');
  const served = /"serverInfo":\{[^}]*"version":"([^"]*)"/.exec(answer)?.[1];
  const isServed = served === version;
  const server = `skillopt mcp: expected a server of version ${version}, got ${served ?? 'no answer'}`;
  return [...unopened, ...commands, ...(isServed ? [] : [server])];
}
