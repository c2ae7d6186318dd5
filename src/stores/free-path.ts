import { existsSync } from 'node:fs';

/** The first of `stem1`, `stem2` … that nothing stands at. */
export function freePath(stem: string): string {
  let number = 1;
  while (existsSync(`${stem}${number}`)) number += 1;
  return `${stem}${number}`;
}
