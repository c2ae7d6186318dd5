import type { RolloutResult } from '../../core/contracts/index.ts';
import { SKILL_FILE, splitPackage } from '../../core/document/index.ts';
import {
  type AnswerTable,
  addAnswers,
  addFailures,
  type FailureTable,
  failureOf,
  type Stamp,
} from '../../core/run/index.ts';
import { head, plural } from '../../core/text/index.ts';

/** Counts attempts whose environment threw, until they are taken; the first is a warning. */
export function createThrowTally(warn: (message: string) => void) {
  let [threw, isKnown] = [0, false];
  return {
    count({ id, failReason = '' }: RolloutResult): void {
      threw += 1;
      if (!isKnown) warn(`the environment threw on task ${id}, which counts as failed: ${head(failReason, 300)}`);
      isKnown = true;
    },
    take(): Pick<Stamp, 'threw'> {
      const taken = threw;
      threw = 0;
      return taken > 0 ? { threw: taken } : {};
    },
  };
}

/** Counts why attempts failed, until the counts are taken. Stops for good when one was right in part. */
export function createFailureTally() {
  let failures: FailureTable | undefined = {};
  return {
    /** The result as the cache keeps it. Once something was right, it is not even read. */
    count(text: string): void {
      const more = failures && failureOf(JSON.parse(text));
      failures = failures && more && addFailures(failures, more);
    },
    take(): Pick<Stamp, 'failures'> {
      const taken = failures ?? {};
      if (failures) failures = {};
      return Object.keys(taken).length > 0 ? { failures: taken } : {};
    },
  };
}

/** Counts the optimizer's replies by stage, until they are taken. */
export function createReplyTally() {
  let answers: AnswerTable = {};
  return {
    count(stage: string, unreadable?: string): void {
      const sample = unreadable && head(unreadable, 200); // enough to see what kind of reply it was
      const reply = sample === undefined ? { read: 1, unreadable: 0 } : { read: 0, unreadable: 1, sample };
      answers = addAnswers(answers, { [stage]: reply });
    },
    take(): Pick<Stamp, 'answers'> {
      const taken = answers;
      answers = {};
      return Object.keys(taken).length > 0 ? { answers: taken } : {};
    },
  };
}

/** Counts which files of a package attempts open or run, where the environment reports it. */
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
    /** Names the files that no attempt needed; nothing where that is not known. */
    warning(skill: string): string | undefined {
      const unused = Object.keys(splitPackage(skill)).filter((path) => path !== SKILL_FILE && !used.has(path));
      if (!isKnown || unused.length === 0) return undefined;
      const them = unused.length === 1 ? 'it' : 'them';
      return `No attempt opened or ran ${plural(unused.length, 'file')} of the package: ${unused.join(', ')}. Say in ${SKILL_FILE} when to use ${them}, or leave ${them} out.`;
    },
  };
}
