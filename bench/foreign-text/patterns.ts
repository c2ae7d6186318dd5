import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

export type Pattern = { readonly where: string; readonly pattern: RegExp };

/**
 * Every regular expression that is written out in `src`: a new one is measured too. Left out is the simulated world,
 * which reads what it wrote itself.
 */
export function findPatterns(): Pattern[] {
  const paths = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
  const read = paths.filter((path) => !path.startsWith('sim/'));
  return read.flatMap((path) => patternsIn(path, readFileSync(join('src', path), 'utf8')));
}

function patternsIn(path: string, text: string): Pattern[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const found: Pattern[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/');
      const line = source.getLineAndCharacterOfPosition(node.getStart()).line + 1;
      found.push({ where: `${path}:${line}`, pattern: new RegExp(node.text.slice(1, end), node.text.slice(end + 1)) });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** Texts that a pattern may begin to match: what is literal in it, in growing pieces. */
export function beginningsOf({ source }: Pick<RegExp, 'source'>): string[] {
  const plain = source
    .replace(/\\[pP]\{[^}]*\}|\\w/g, 'a')
    .replace(/\\d/g, '1')
    .replace(/\\s/g, ' ')
    .replace(/\\[bB]|\(\?(?:[:=!]|<[=!])/g, '')
    .replace(/\\n/g, '\n')
    .replace(/\\(.)/g, '$1');
  const parts = plain.split(/[()[\]{}|*+?^$]+/).filter(Boolean);
  return [...parts, ...parts.map((_, index) => parts.slice(0, index + 1).join(''))].slice(0, 12);
}
