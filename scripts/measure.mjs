// Measures the source: lines, files, imports, doors, functions, by room. `npm run measure`, or `npm run measure -- --names` for the places.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import ts from 'typescript';

const showsNames = process.argv.includes('--names');
const filesIn = (root) =>
  readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => join(root, path));
const roomOf = (path) => {
  const [, first, second] = path.split('/');
  if (first === 'core') return second?.endsWith('.ts') ? 'core' : `core/${second}`;
  return first.endsWith('.ts') ? 'public' : first;
};
const isDoor = (path) =>
  path === 'src/index.ts' || path.startsWith('src/public/') || path === `src/${roomOf(path)}/index.ts`;
const linesIn = (text) => text.split('\n').length - 1;

/** Paths that a file imports, statically or later. Names of the package are its public files. */
function importsOf(path, source) {
  const found = [];
  const visit = (node) => {
    const literal =
      (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier
        ? node.moduleSpecifier
        : ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword
          ? node.arguments[0]
          : ts.isImportTypeNode(node)
            ? node.argument.literal
            : undefined;
    if (literal?.text?.startsWith('.')) found.push(relative('.', resolve(dirname(path), literal.text)));
    else if (/^skillopt(\/\w+)?$/.test(literal?.text ?? ''))
      found.push(literal.text.replace(/^skillopt/, 'src/public'));
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function functionsOf(path, source) {
  const found = [];
  const visit = (node) => {
    if (ts.isFunctionLike(node) && node.body) {
      const [from, to] = [node.getStart(source), node.end].map((at) => source.getLineAndCharacterOfPosition(at).line);
      const name = node.name?.getText(source) ?? node.parent?.name?.getText(source) ?? '(arrow)';
      found.push({ at: `${path}:${from + 1} ${name}`, lines: to - from + 1, parameters: node.parameters.length });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

const read = (path) => {
  const text = readFileSync(path, 'utf8');
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  return {
    path,
    room: roomOf(path),
    lines: linesIn(text),
    imports: importsOf(path, source),
    functions: functionsOf(path, source),
  };
};

const sources = filesIn('src').map(read);
const imports = sources.flatMap(({ path, imports }) => imports.map((to) => ({ path, to })));
const pastDoors = imports.filter(({ path, to }) => roomOf(path) !== roomOf(to) && !isDoor(to));
const importersOf = new Map(sources.map(({ path }) => [path, new Set()]));
for (const { path, to } of imports) importersOf.get(to)?.add(path);
const withOne = sources.filter(({ path }) => importersOf.get(path).size === 1);
const withOneOwn = withOne.filter(({ path }) => !isDoor([...importersOf.get(path)][0]));
const functions = sources.flatMap(({ functions }) => functions);
const over = (lines) => functions.filter((one) => one.lines > lines);
const manyParameters = functions.filter(({ parameters }) => parameters > 4);
const long = sources.filter(({ lines }) => lines > 300);
const tested = filesIn('test')
  .map(read)
  .flatMap(({ imports }) => imports)
  .filter((to) => to.startsWith('src/'));
const sum = (list, key) => list.reduce((total, one) => total + one[key], 0);
const percent = (part, whole) => `${((100 * part) / whole).toFixed(1)} %`;

const rooms = [...new Set(sources.map(({ room }) => room))].sort();
console.log('room'.padEnd(16), 'files'.padStart(6), 'lines'.padStart(7), 'imports'.padStart(8));
for (const room of rooms) {
  const own = sources.filter((one) => one.room === room);
  const relativeImports = own.flatMap(({ imports }) => imports).length;
  console.log(
    room.padEnd(16),
    `${own.length}`.padStart(6),
    `${sum(own, 'lines')}`.padStart(7),
    `${relativeImports}`.padStart(8),
  );
}
const total = sum(sources, 'lines');
const rows = [
  ['imports past another room’s door', pastDoors.length, pastDoors.map(({ path, to }) => `${path} → ${to}`)],
  ['lines per relative import', (total / imports.length).toFixed(1), []],
  ['files with one importer, a door counted as one', percent(withOne.length, sources.length), []],
  [
    'files with one importer that is no door',
    percent(withOneOwn.length, sources.length),
    withOneOwn.map(({ path }) => path),
  ],
  ['lines of src', total, []],
  ['files of src', sources.length, []],
  ['files over 300 lines', long.length, long.map(({ path, lines }) => `${path} ${lines}`)],
  ['functions over 60 lines', over(60).length, over(60).map(({ at, lines }) => `${at} ${lines}`)],
  ['functions over 40 lines', over(40).length, over(40).map(({ at, lines }) => `${at} ${lines}`)],
  ['functions with over 4 parameters', manyParameters.length, manyParameters.map(({ at }) => at)],
  [
    'lines of cli',
    sum(
      sources.filter(({ room }) => room === 'cli'),
      'lines',
    ),
    [],
  ],
  ['imports of tests that go through doors', percent(tested.filter(isDoor).length, tested.length), []],
];
console.log();
for (const [what, figure, names] of rows) {
  console.log(what.padEnd(48), figure);
  if (showsNames) for (const name of names) console.log(`    ${name}`);
}
