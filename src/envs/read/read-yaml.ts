import { type Document, isMap, isSeq, LineCounter, type Node, Parser, parseDocument, type YAMLSeq } from 'yaml';
import { whyTooMuch } from '../../core/contracts/index.ts';
import type { Row } from './row.ts';
import { isTask, isTasksByName, LIST_KEYS, notAList, withName } from './task-list.ts';
import { tasksInvalid } from './tasks-invalid.ts';

const HINT = 'A task file is a YAML list: each task begins with "- ".';

/** A list of tasks, a mapping with such a list under one of `LIST_KEYS` or with tasks by name, or a single task. */
export function readYaml(text: string, path: string): Row[] {
  requireShallow(text, path);
  const lineCounter = new LineCounter();
  // The library is silent: without the level, the parser would print its warnings itself.
  const document = parseDocument(text, { lineCounter, prettyErrors: false, logLevel: 'error' });
  const placeOf = (offset: number) => `${path}:${lineCounter.linePos(offset).line}`;
  const [error] = document.errors;
  if (error) throw tasksInvalid([`${placeOf(error.pos[0])}: expected YAML: ${error.message}`], HINT, error);
  if (document.contents === null) return [];
  const list = findList(document.contents);
  if (!list && isMap<Node, Node>(document.contents) && isNamed(document, path)) {
    return document.contents.items.map(({ key, value }) => {
      const row = toRow(value!, document, placeOf(key.range![0]));
      return { ...row, value: withName(String(key.toJS(document)), row.value as object) };
    });
  }
  const nodes = list ? list.items : [requireTask(document, path)];
  return nodes.map((node) => toRow(node, document, placeOf(node.range![0])));
}

function isNamed(document: Document, path: string): boolean {
  const { value: root } = toRow(document.contents as Node, document, `${path}:1`);
  return !isTask(root) && isTasksByName(root);
}

/** Tasks are built by recursion, which on a deep text can abort the process. Tokens are not; three make a level. */
export function requireShallow(text: string, path: string): void {
  for (const token of new Parser().parse(text)) {
    const isTooDeep = whyTooMuch(token, { maxDepth: 1500, maxValues: Number.POSITIVE_INFINITY }) !== undefined;
    if (isTooDeep) throw tasksInvalid([`${path}: expected tasks, got YAML nested more than 500 levels deep`], HINT);
  }
}

function requireTask(document: Document, path: string): Node {
  const { value } = toRow(document.contents as Node, document, path);
  if (isTask(value)) return document.contents as Node;
  throw notAList(value, path);
}

function findList(contents: unknown): YAMLSeq<Node> | undefined {
  if (isSeq<Node>(contents)) return contents;
  if (!isMap(contents)) return undefined;
  return LIST_KEYS.map((key) => contents.get(key)).find((entry) => isSeq<Node>(entry));
}

function toRow(node: Node, document: Document, where: string): Row {
  try {
    return { value: node.toJS(document), where };
  } catch (error) {
    // An alias without its anchor, or aliases that multiply beyond reason.
    throw tasksInvalid([`${where}: expected YAML: ${(error as Error).message}`], HINT, error);
  }
}
