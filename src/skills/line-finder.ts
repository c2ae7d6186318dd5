import { LineCounter } from 'yaml';

/** From an offset in the text to its line, counted from 1. */
export function lineFinder(text: string): (offset: number) => number {
  const counter = new LineCounter();
  counter.addNewLine(0);
  for (const { index } of text.matchAll(/\n/g)) counter.addNewLine(index + 1);
  return (offset) => counter.linePos(offset).line;
}
