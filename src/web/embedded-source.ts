import type { Source } from './source.ts';

/** The data of a report, if this page is one. */
export async function embeddedSource(): Promise<Source | null> {
  return null;
}
