import ts from 'typescript';
import { beginningsOf } from '../foreign-text/patterns.ts';
import { type Shape, textsIn } from './shape.ts';

/** A way from a door to something that takes text: names to follow, and calls on the way. The last call gets the text. */
export type Step = {
  readonly names: readonly string[];
  readonly parameters: readonly Shape[];
  readonly isNew: boolean;
};
export type TextFunction = {
  readonly name: string;
  readonly door: string;
  readonly steps: readonly Step[];
  /** What its source file says in quotes and in patterns: beginnings of what it looks for. */
  readonly words: readonly string[];
};

const DOORS = ['*/index.ts', 'core/*/index.ts'];
/** They read what they wrote themselves. */
const DOUBLES = ['sim', 'testing'];

/** All that the doors of `src` export and that takes a text, alone or inside an object, so that a new export is found too. */
export const findTextFunctions = (): TextFunction[] => findFunctions().filter(takesText);

export const takesText = ({ steps }: TextFunction) => steps.at(-1)!.parameters.some((shape) => textsIn(shape) > 0);

/** All functions that the doors export, with those of the objects that they export or return. */
export function findFunctions(): TextFunction[] {
  const { config } = ts.readConfigFile('tsconfig.json', ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, process.cwd());
  const doors = ts.sys.readDirectory('src', ['.ts'], DOUBLES, DOORS).sort();
  const program = ts.createProgram(doors, options);
  return doors.flatMap((door) => functionsOf(program, door));
}

function functionsOf(program: ts.Program, door: string): TextFunction[] {
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(door)!;
  const exported = checker.getExportsOfModule(checker.getSymbolAtLocation(source)!);
  const ways = new Ways(checker, source);
  return exported.flatMap((symbol) => {
    const real = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
    if (!(real.flags & ts.SymbolFlags.Value) || real.valueDeclaration === undefined) return [];
    const type = checker.getTypeOfSymbolAtLocation(real, source);
    const words = wordsIn(real.valueDeclaration.getSourceFile());
    return ways.from(type, [symbol.name]).map((steps) => ({ name: nameOf(door, steps), door, steps, words }));
  });
}

function nameOf(door: string, steps: readonly Step[]): string {
  const room = door.replace(/^src\/|\/index\.ts$/g, '');
  return `${room}: ${steps.map(({ names }) => names.join('.')).join('().')}`;
}

/** Settings are as deep as this; types that hold themselves have no end. */
const DEEPEST = 7;

/** Objects of functions hold more of them: `agentClis.codex.read`. */
const MOST_NAMES = 3;

class Ways {
  readonly #checker: ts.TypeChecker;
  readonly #place: ts.Node;
  /** Types have the same shape wherever they stand equally deep. */
  readonly #known = new Map<ts.Type, Shape[]>();

  constructor(checker: ts.TypeChecker, place: ts.Node) {
    this.#checker = checker;
    this.#place = place;
  }

  /** Every way to a call, through at most one other call. */
  from(type: ts.Type, names: readonly string[], before: readonly Step[] = []): (readonly Step[])[] {
    const [construct] = type.getConstructSignatures();
    const signature = type.getCallSignatures().at(0) ?? construct;
    if (signature === undefined) return this.#through(type, names, before);
    const parameters = signature.getParameters().map((parameter) => this.#shapeNamed(parameter, 0));
    const steps = [...before, { names, parameters, isNew: construct !== undefined }];
    return before.length > 0 ? [steps] : [steps, ...this.#behind(signature.getReturnType(), steps)];
  }

  /** What a call returns may take texts too: a function, or an object with functions of ours. */
  #behind(type: ts.Type, steps: readonly Step[]): (readonly Step[])[] {
    return isOurs(type) || type.getCallSignatures().length > 0 ? this.from(type, [], steps) : [];
  }

  #through(type: ts.Type, names: readonly string[], before: readonly Step[]): (readonly Step[])[] {
    if (names.length >= MOST_NAMES || !(type.flags & ts.TypeFlags.Object) || !isOurs(type)) return [];
    return this.#checker
      .getPropertiesOfType(type)
      .filter((property) => /^[a-z]/i.test(property.name) && isThere(property))
      .flatMap((property) => this.from(this.#typeOf(property), [...names, property.name], before));
  }

  #typeOf(symbol: ts.Symbol): ts.Type {
    return this.#checker.getTypeOfSymbolAtLocation(symbol, symbol.valueDeclaration ?? this.#place);
  }

  /** What a text is laid out in has the width of a terminal. */
  #shapeNamed(symbol: ts.Symbol, depth: number): Shape {
    const shape = this.#shapeOf(this.#typeOf(symbol), depth);
    return symbol.name === 'width' && shape.kind === 'value' ? { kind: 'value', value: 80 } : shape;
  }

  #shapeOf(type: ts.Type, depth: number): Shape {
    if (depth > DEEPEST) return { kind: 'nothing' };
    const known = this.#known.get(type)?.[depth];
    if (known !== undefined) return known;
    const shape = this.#newShapeOf(type, depth);
    const shapes = this.#known.get(type) ?? [];
    shapes[depth] = shape;
    this.#known.set(type, shapes);
    return shape;
  }

  #newShapeOf(type: ts.Type, depth: number): Shape {
    const { flags } = type;
    if (flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown | ts.TypeFlags.String | ts.TypeFlags.TemplateLiteral))
      return { kind: 'text' };
    if (type.isStringLiteral() || type.isNumberLiteral()) return { kind: 'value', value: type.value };
    if (flags & ts.TypeFlags.Number) return { kind: 'value', value: 1 }; // a count, and a share too
    if (flags & ts.TypeFlags.BooleanLike) return { kind: 'value', value: false };
    if (flags & ts.TypeFlags.Null) return { kind: 'value', value: null };
    if (flags & ts.TypeFlags.TypeParameter) {
      const constraint = this.#checker.getBaseConstraintOfType(type);
      return constraint === undefined ? { kind: 'text' } : this.#shapeOf(constraint, depth + 1);
    }
    if (type.isUnion()) return this.#likeliest(type.types.map((part) => this.#shapeOf(part, depth)));
    return flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection)
      ? this.#objectShape(type, depth)
      : { kind: 'nothing' };
  }

  /** The one with the most texts; of names that are fixed, the first. */
  #likeliest(shapes: readonly Shape[]): Shape {
    const [best] = shapes.filter(({ kind }) => kind !== 'nothing').sort((one, other) => textsIn(other) - textsIn(one));
    return best ?? { kind: 'nothing' };
  }

  #objectShape(type: ts.Type, depth: number): Shape {
    const inner = (part: ts.Type | undefined) => (part ? this.#shapeOf(part, depth + 1) : ({ kind: 'text' } as const));
    const [first, second] = this.#checker.getTypeArguments(type as ts.TypeReference);
    if (this.#checker.isTupleType(type))
      return { kind: 'tuple', parts: this.#checker.getTypeArguments(type as ts.TypeReference).map(inner) };
    if (this.#checker.isArrayType(type)) return { kind: 'list', of: inner(first) };
    const known = BUILT_IN.get(type.symbol?.name ?? '')?.(inner, first, second);
    if (known !== undefined) return known;
    const [call] = type.getCallSignatures();
    if (call !== undefined) return { kind: 'function', of: inner(call.getReturnType()) };
    const index = type.getStringIndexType();
    const properties = this.#checker.getPropertiesOfType(type);
    if (index !== undefined && properties.length === 0) return { kind: 'object', fields: { entry: inner(index) } };
    const fields = properties.map((property) => {
      const shape = this.#shapeNamed(property, depth + 1);
      const isLeftOut = property.flags & ts.SymbolFlags.Optional && (depth > 1 || textsIn(shape) === 0);
      return [property.name, isLeftOut ? ({ kind: 'nothing' } as const) : shape] as const;
    });
    return { kind: 'object', fields: Object.fromEntries(fields.filter(([, { kind }]) => kind !== 'nothing')) };
  }
}

/** Neither optional nor left to a subclass. */
const isThere = ({ flags, declarations = [] }: ts.Symbol) =>
  !(flags & ts.SymbolFlags.Optional) &&
  !declarations.some((declaration) => ts.getCombinedModifierFlags(declaration) & ts.ModifierFlags.Abstract);

type Inner = (type: ts.Type | undefined) => Shape;
type BuiltIn = (inner: Inner, first: ts.Type | undefined, second: ts.Type | undefined) => Shape;

const list: BuiltIn = (inner, first) => ({ kind: 'list', of: inner(first) });
const set: BuiltIn = (inner, first) => ({ kind: 'set', of: inner(first) });
const map: BuiltIn = (inner, _, second) => ({ kind: 'map', of: inner(second) });
const bytes: BuiltIn = () => ({ kind: 'bytes' });

const BUILT_IN: ReadonlyMap<string, BuiltIn> = new Map(
  Object.entries({
    ...{ Iterable: list, ReadonlyArray: list, Set: set, ReadonlySet: set, Map: map, ReadonlyMap: map },
    ...{ Uint8Array: bytes, Buffer: bytes },
    Promise: (inner: Inner, first: ts.Type | undefined): Shape => ({ kind: 'promise', of: inner(first) }),
    Date: (): Shape => ({ kind: 'date' }),
    RegExp: (): Shape => ({ kind: 'pattern' }),
    AbortSignal: (): Shape => ({ kind: 'signal' }),
  }),
);

/** Declared in `src`, or written out there without a name. */
const isOurs = (type: ts.Type) =>
  (type.symbol?.declarations ?? type.aliasSymbol?.declarations ?? []).some((declaration) =>
    declaration.getSourceFile().fileName.includes('/src/'),
  );

const MOST_WORDS = 60;

function wordsIn(source: ts.SourceFile): string[] {
  const words = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/');
      for (const word of beginningsOf({ source: node.text.slice(1, end) })) words.add(word);
    } else if (ts.isStringLiteralLike(node) && !ts.isImportDeclaration(node.parent)) words.add(node.text);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return [...words].filter((word) => word.length > 0 && word.length <= 12).slice(0, MOST_WORDS);
}
