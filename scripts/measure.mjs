// Measures the source: lines, files, imports, doors, functions, by room. `npm run measure`, or `npm run measure -- --names` for the places.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import ts from 'typescript';

const showsNames = process.argv.includes('--names');
const filesIn = (root) =>
  readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path))
    .map((path) => join(root, path));
const roomOf = (path) => {
  const [, first, second] = path.split('/');
  if (first === 'core') return second?.endsWith('.ts') ? 'core' : `core/${second}`;
  return first.endsWith('.ts') ? 'public' : first;
};
const isDoor = (path) =>
  path === 'src/index.ts' || path.startsWith('src/public/') || path === `src/${roomOf(path)}/index.ts`;
const linesIn = (text) => text.split('\n').length - 1;

/** What a file imports, statically or later: the path, and the names if they are listed. Names of the package are its public files. */
function importsOf(path, source) {
  const found = [];
  const add = (literal, list, isExport = false) => {
    const text = literal?.text ?? '';
    const to = text.startsWith('.')
      ? relative('.', resolve(dirname(path), text))
      : /^skillopt(\/\w+)?$/.test(text) && text.replace(/^skillopt/, 'src/public');
    const names = list?.elements?.map(({ name, propertyName }) => [name.text, (propertyName ?? name).text]);
    if (to) found.push({ to, names, isExport });
  };
  const visit = (node) => {
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier, node.importClause?.namedBindings);
    else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, node.exportClause, true);
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) add(node.arguments[0]);
    else if (ts.isImportTypeNode(node)) add(node.argument.literal);
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
const sourceAt = new Map(sources.map((source) => [source.path, source]));
const imports = sources.flatMap(({ path, imports }) => imports.map((one) => ({ path, ...one })));
const pastDoors = imports.filter(({ path, to }) => roomOf(path) !== roomOf(to) && !isDoor(to));
/** The file that declares a name which another file, such as a door, passes on. */
const declaringFile = (path, name) => {
  for (const { to, names, isExport } of sourceAt.get(path)?.imports ?? []) {
    const inside = names?.find(([outside]) => outside === name)?.[1];
    if (isExport && inside !== undefined) return declaringFile(to, inside);
  }
  return path;
};
/** All names that a door passes on. */
const passedOn = (path) =>
  (sourceAt.get(path)?.imports ?? []).flatMap(({ names = [], isExport }) =>
    isExport ? names.map(([name]) => name) : [],
  );
const importersOf = new Map(sources.map(({ path }) => [path, new Set()]));
for (const { path, to, names, isExport } of imports) {
  if (isDoor(path) && roomOf(path) !== 'public') continue; // a door is seen through: who uses the name is the importer
  const taken = names?.map(([, inside]) => inside) ?? (isExport ? passedOn(to) : undefined);
  for (const from of taken?.map((name) => declaringFile(to, name)) ?? [to]) importersOf.get(from)?.add(path);
}
const withOne = sources.filter(({ path }) => !isDoor(path) && importersOf.get(path).size === 1);
const functions = sources.flatMap(({ functions }) => functions);
const over = (lines) => functions.filter((one) => one.lines > lines);
const manyParameters = functions.filter(({ parameters }) => parameters > 4);
const long = sources.filter(({ lines }) => lines > 300);
const tested = filesIn('test')
  .map(read)
  .flatMap(({ imports }) => imports.map(({ to }) => to))
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
  [
    'files with one importer, doors seen through',
    percent(withOne.length, sources.length),
    withOne.map(({ path, lines }) => `${path} ${lines} ← ${[...importersOf.get(path)][0]}`),
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
