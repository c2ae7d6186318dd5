import type { RolloutResult } from '../../core/contracts/index.ts';
import { SKILL_FILE, splitPackage } from '../../core/document/index.ts';
import { plural } from '../../core/text/index.ts';

/** Counts which files of a package attempts open or run, for environments that can tell. */
export function createFileUse() {
  const used = new Set<string>();
  let isKnown = false;
  return {
    note(result: object | undefined): void {
      const { filesUsed } = ((result as RolloutResult | undefined)?.extras ?? {}) as { readonly filesUsed?: unknown };
      if (!Array.isArray(filesUsed)) return;
      isKnown = true;
      for (const path of filesUsed) used.add(String(path));
    },
    /** What to tell of the files that no attempt needed; nothing where that is not known. */
    warning(skill: string): string | undefined {
      const unused = Object.keys(splitPackage(skill)).filter((path) => path !== SKILL_FILE && !used.has(path));
      if (!isKnown || unused.length === 0) return undefined;
      const them = unused.length === 1 ? 'it' : 'them';
      return `No attempt opened or ran ${plural(unused.length, 'file')} of the package: ${unused.join(', ')}. Say in ${SKILL_FILE} when to use ${them}, or leave ${them} out.`;
    },
  };
}
