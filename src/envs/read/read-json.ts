import { elementLines, entryLines } from './element-lines.ts';
import type { Row } from './row.ts';
import { isTask, isTasksByName, LIST_KEYS, notAList, withName } from './task-list.ts';
import { tasksInvalid } from './tasks-invalid.ts';

/** A list of tasks, an object with such a list under one of `LIST_KEYS` or with tasks by name, or a single task. */
export function readJson(text: string, path: string): Row[] {
  const root = parse(text, path);
  const key = Array.isArray(root) ? undefined : LIST_KEYS.find((name) => Array.isArray(entryOf(root, name)));
  const list = key === undefined ? root : entryOf(root, key);
  if (isTask(list)) return [{ value: root, where: `${path}:1` }];
  if (isTasksByName(root)) {
    return [...entryLines(text)].map(([name, line]) => ({
      value: withName(name, root[name]!),
      where: `${path}:${line}`,
    }));
  }
  if (!Array.isArray(list)) throw notAList(root, path);
  const lines = elementLines(text, key);
  return list.map((value, index) => ({ value, where: `${path}:${lines[index]}` }));
}

function entryOf(root: unknown, key: string): unknown {
  return (root as Record<string, unknown> | null)?.[key];
}

function parse(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const message = (error as Error).message.replace(/\s+/g, ' ');
    const problem = `${path}${lineSuffix(text, message)}: expected JSON: ${message}`;
    throw tasksInvalid([problem], 'One object per line, without a list around them, belongs in a .jsonl file.', error);
  }
}

/** The engine tells an offset for most errors, but not for all. */
function lineSuffix(text: string, message: string): string {
  const offset = /at position (\d+)/.exec(message)?.[1];
  return offset === undefined ? '' : `:${text.slice(0, Number(offset)).split('\n').length}`;
}
