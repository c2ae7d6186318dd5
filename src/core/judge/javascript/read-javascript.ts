import { fromJsPattern } from '../regex/js-pattern.ts';
import {
  callMethod,
  constant,
  FUNCTIONS,
  joined,
  LEVELS,
  listOf,
  METHODS,
  type Node,
  numberOf,
  Pattern,
  property,
  type Scope,
  SPACES,
  spent,
  YES_OR_NO,
} from './nodes.ts';

type Statement = { readonly name: string; readonly value: Node };
const MAX_SOURCE = 2_000;
const MAX_DEPTH = 40;
/** Code as what can be walked through. Throws for more than an expression, and for one whose value is not always true or false. */
export const readJavaScript = (source: string) => new Reader(source).program();

const TOKEN =
  /\s+|\/\/[^\n]*|(?<name>[A-Za-z_$][\w$]*)|(?<number>\d+(?:\.\d+)?)|(?<text>'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\$]|\\.)*`)|(?<sign>=>|===|!==|==|!=|<=|>=|&&|\|\||\?\.|[-+*/%!<>?:.,;()[\]=])/suy;
const PATTERN = /\/((?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)\/([a-z]*)/suy;

type Token = {
  readonly kind: 'name' | 'number' | 'text' | 'sign' | 'pattern' | 'end';
  readonly text: string;
  readonly isNewLine?: boolean;
};

function* tokensOf(source: string): Generator<Token> {
  let [at, isNewLine] = [0, false];
  let last: Token | undefined;
  while (at < source.length) {
    const isOperand =
      last !== undefined && (last.kind !== 'sign' || /^[)\]]$/.test(last.text)) && last.text !== 'return';
    const rule = source[at] === '/' && source[at + 1] !== '/' && !isOperand ? PATTERN : TOKEN;
    rule.lastIndex = at;
    const found = rule.exec(source);
    if (!found) throw new Error(`${JSON.stringify(source.slice(at, at + 12))} in its code is not read`);
    at = rule.lastIndex;
    const kind =
      rule === PATTERN ? 'pattern' : Object.entries(found.groups!).find(([, text]) => text !== undefined)?.[0];
    if (kind === undefined) isNewLine ||= found[0].includes('\n');
    else {
      last = { kind: kind as Token['kind'], text: found[0], isNewLine };
      yield last;
      isNewLine = false;
    }
  }
}

class Reader {
  readonly #tokens: readonly Token[];
  readonly #names = new Set(['output', 'context', 'true', 'false', 'null', 'undefined']);
  readonly #isOneLine: boolean;
  #at = 0;
  #depth = 0;
  #chainAt = 0;

  constructor(source: string) {
    const code = source.trim().replace(/(?<!;);+$/, '');
    if (code.length > MAX_SOURCE) throw new Error('its code is too long');
    this.#isOneLine = !source.trimEnd().includes('\n');
    this.#tokens = [...tokensOf(code), { kind: 'end', text: '' }];
  }

  program() {
    const statements: Statement[] = [];
    while (/^(?:const|let|var)$/.test(this.#next.text)) {
      this.#at++;
      const name = this.#take('name');
      this.#take('sign', '=');
      statements.push({ name, value: this.#expression() });
      this.#names.add(name);
      if (this.#next.text === ';') this.#at++;
      else if (!this.#next.isNewLine) throw this.#unread();
    }
    // On one line the last expression is the value; on several, only what is returned.
    if (!this.#isOneLine) {
      this.#take('name', 'return');
      if (this.#next.isNewLine) throw new Error('its code returns nothing');
    }
    const result = this.#expression();
    if (this.#next.kind !== 'end') throw this.#unread();
    if (!result.isYesOrNo) throw new Error('the value of its code is not always true or false');
    return { statements, result };
  }

  get #next(): Token {
    return this.#tokens[this.#at]!;
  }

  #unread(): Error {
    return new Error(`its code is more than an expression over the output, at ${JSON.stringify(this.#next.text)}`);
  }

  #take(kind: Token['kind'], text?: string): string {
    const token = this.#next;
    if (token.kind !== kind || (text !== undefined && token.text !== text)) throw this.#unread();
    this.#at++;
    return token.text;
  }

  #isNext(text: string): boolean {
    const isIt = this.#next.kind === 'sign' && this.#next.text === text;
    if (isIt) this.#at++;
    return isIt;
  }

  #expression(): Node {
    if (++this.#depth > MAX_DEPTH) throw new Error('its code is nested too deeply');
    const test = this.#binary(0);
    this.#depth--;
    if (!this.#isNext('?')) return test;
    const yes = this.#expression();
    this.#take('sign', ':');
    const no = this.#expression();
    const isYesOrNo = yes.isYesOrNo === true && no.isYesOrNo === true;
    return { isYesOrNo, run: (scope) => (test.run(scope) ? yes.run(scope) : no.run(scope)) };
  }

  #binary(level: number): Node {
    const signs = LEVELS[level];
    if (signs === undefined) return this.#unary();
    let left = this.#binary(level + 1);
    while (this.#next.kind === 'sign' && signs.includes(this.#next.text)) {
      const sign = this.#next.text;
      this.#at++;
      left = joined(sign, left, this.#binary(level + 1));
    }
    return left;
  }

  #unary(): Node {
    if (this.#isNext('!')) {
      const value = this.#unary();
      return { isYesOrNo: true, run: (scope) => !value.run(scope) };
    }
    if (this.#isNext('-')) {
      const value = this.#unary();
      return { run: (scope) => -numberOf(value.run(scope)) };
    }
    if (this.#next.kind === 'name' && this.#next.text === 'typeof') {
      this.#at++;
      const value = this.#unary();
      return { run: (scope) => typeof value.run(scope) };
    }
    const start = this.#at;
    const first = this.#primary();
    this.#chainAt = start;
    return this.#chain(first);
  }

  #primary(): Node {
    const { kind, text } = this.#next;
    if (this.#isNext('(')) {
      const inner = this.#expression();
      this.#take('sign', ')');
      return inner;
    }
    if (this.#isNext('[')) return listOf(this.#list(']'));
    this.#at++;
    if (kind === 'number') return { run: () => Number(text) };
    if (kind === 'text') return constant(textOf(text));
    if (kind === 'pattern') return this.#pattern(text);
    if (kind === 'name') return this.#named(text);
    this.#at--;
    throw this.#unread();
  }

  /** `g` remembers where a search ended, which shows only if the pattern is used twice. */
  #pattern(text: string): Node {
    const [, source = '', flags = ''] = /^\/(.*)\/([a-z]*)$/su.exec(text)!;
    const isUsedOnce = this.#next.text === '.' || this.#next.text === ')';
    if (flags.includes('g') && !isUsedOnce) throw new Error('its code keeps a pattern with the flag g');
    if (SPACES[text]) return constant(Object.assign(new Pattern(fromJsPattern(source)), { split: SPACES[text] }));
    return constant(new Pattern(fromJsPattern(source, flags.replace('g', ''))));
  }

  #named(name: string): Node {
    const token = this.#next;
    const whole = token.text === '.' ? `${name}.${this.#tokens[this.#at + 1]?.text}` : name;
    const call = Object.hasOwn(FUNCTIONS, whole) ? FUNCTIONS[whole]! : undefined;
    if (call && !this.#names.has(name)) {
      if (whole !== name) this.#at += 2;
      // A function that is handed on: ['a', ''].filter(Boolean)
      if (this.#next.text !== '(' && whole === 'Boolean') return { run: () => (value: unknown) => Boolean(value) };
      this.#take('sign', '(');
      const [value = constant(undefined), ...rest] = this.#list(')');
      if (rest.length > (whole === 'parseInt' ? 1 : 0))
        throw new Error(`${whole} with more than one argument is not read`);
      return { isYesOrNo: YES_OR_NO.includes(whole), run: (scope) => spent(scope, call(value.run(scope))) };
    }
    if (token.text === '=>') return this.#arrow(name);
    if (!this.#names.has(name)) throw new Error(`its code names ${name}, which is not known here`);
    if (name === 'context' && !(token.text === '.' && this.#tokens[this.#at + 1]?.text === 'vars'))
      throw new Error('of its context, only the variables are known here');
    if (name === 'true' || name === 'false') return { ...constant(name === 'true'), isYesOrNo: true };
    if (name === 'null' || name === 'undefined') return constant(name === 'null' ? null : undefined);
    return { run: ({ values }) => values.get(name) };
  }

  #arrow(name: string): Node {
    this.#take('sign', '=>');
    const isNew = !this.#names.has(name);
    this.#names.add(name);
    const body = this.#expression();
    if (isNew) this.#names.delete(name);
    return {
      run:
        ({ values, spend }) =>
        (value: unknown) =>
          body.run({ values: new Map([...values, [name, value]]), spend }),
    };
  }

  #list(end: string): Node[] {
    const nodes: Node[] = [];
    while (!this.#isNext(end)) {
      nodes.push(this.#argument());
      if (this.#next.text !== end) this.#take('sign', ',');
    }
    return nodes;
  }

  /** `(word) => …` as well as `word => …`. */
  #argument(): Node {
    const [open, name, close, arrow] = this.#tokens.slice(this.#at, this.#at + 4);
    if (open!.text !== '(' || name?.kind !== 'name' || close?.text !== ')' || arrow?.text !== '=>')
      return this.#expression();
    this.#at += 3;
    return this.#arrow(name.text);
  }

  #chain(start: Node): Node {
    let node = start;
    for (;;) {
      const isOptional = this.#isNext('?.');
      if (isOptional || this.#isNext('.')) node = this.#member(node, this.#take('name'), isOptional);
      else if (this.#isNext('[')) {
        const key = this.#expression();
        this.#take('sign', ']');
        node = property(node, key, false);
      } else return node;
    }
  }

  #member(of: Node, name: string, isOptional: boolean): Node {
    if (name in Object.prototype) throw new Error(`${name} in its code is not read`);
    if (this.#next.text !== '(') return property(of, constant(name), isOptional);
    if (!METHODS.includes(name)) throw new Error(`${name}() in its code is not read`);
    this.#take('sign', '(');
    const given = this.#list(')');
    // Which parts match is not known here, only whether.
    if (name === 'match' && !this.#isOnlyAsked())
      throw new Error('what match() finds is not read, only whether it does');
    const run = (scope: Scope) => {
      const target = of.run(scope);
      if (isOptional && target == null) return undefined;
      return spent(
        scope,
        callMethod(
          name,
          spent(scope, target),
          given.map((one) => one.run(scope)),
          scope,
        ),
      );
    };
    return { isYesOrNo: !isOptional && YES_OR_NO.includes(name), run };
  }

  #isOnlyAsked(): boolean {
    const [sign, value] = this.#tokens.slice(this.#at, this.#at + 2);
    const isNegated = this.#tokens[this.#chainAt - 1]?.text === '!' && !/^(?:\?\.|\.|\[)$/.test(sign!.text);
    return isNegated || (/^[!=]==?$/.test(sign!.text) && value?.text === 'null');
  }
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f', v: '\v', '0': '\0' };

function textOf(literal: string): string {
  return literal
    .slice(1, -1)
    .replace(/\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([\s\S]))/g, (_, wide, byte, one: string) => {
      if (wide ?? byte) return String.fromCharCode(Number.parseInt(wide ?? byte, 16));
      return one === '\n' ? '' : (ESCAPES[one] ?? one);
    });
}
