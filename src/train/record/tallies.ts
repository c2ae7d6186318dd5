import type { RolloutResult } from '../../core/contracts/index.ts';
import { SKILL_FILE, splitPackage } from '../../core/document/index.ts';
import { type AnswerTable, addAnswers, addFailures, type FailureTable, failureOf } from '../../core/run/index.ts';
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
    take(): number {
      const taken = threw;
      threw = 0;
      return taken;
    },
  };
}

/** Counts why attempts failed, until they are taken or one was right in part: from then on reasons say nothing of the whole. */
export function createFailureTally() {
  let failures: FailureTable | undefined = {};
  return {
    /** The result as the cache keeps it. Once something was right, it is not even read. */
    count(text: string): void {
      const more = failures && failureOf(JSON.parse(text));
      failures = failures && more && addFailures(failures, more);
    },
    take(): FailureTable {
      const taken = failures ?? {};
      if (failures) failures = {};
      return taken;
    },
  };
}

/** Enough to see what kind of reply it was. */
const SAMPLE_LENGTH = 200;

/** Counts the optimizer's replies by stage, until they are taken. */
export function createReplyTally() {
  let answers: AnswerTable = {};
  return {
    count(stage: string, unreadable?: string): void {
      const reply =
        unreadable === undefined
          ? { read: 1, unreadable: 0 }
          : { read: 0, unreadable: 1, sample: head(unreadable, SAMPLE_LENGTH) };
      answers = addAnswers(answers, { [stage]: reply });
    },
    take(): AnswerTable {
      const taken = answers;
      answers = {};
      return taken;
    },
  };
}

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
