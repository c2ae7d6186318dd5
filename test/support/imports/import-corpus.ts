import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A test of a config by its description, and by these variables where one test becomes several. */
type Place = { readonly file: string; readonly test: string; readonly vars?: Readonly<Record<string, string>> };

/** `0` is the first check that holds for the test, defaults first; `0.2` the third of a set; `test` all of them together. */
type Check = Place & { readonly assertion: string; readonly type?: string };

/** What promptfoo says of one answer. */
type Verdict = Check & {
  readonly expected: 'pass' | 'fail';
  /** Of the whole test. */
  readonly score?: number;
  readonly output?: string;
  readonly latencyMs?: number;
  readonly costUsd?: number;
  readonly finishReason?: string;
  readonly skillsUsed?: readonly string[];
  /** An importer may leave the check out, if it says so. */
  readonly mayBeLeftOut?: true;
  /** A key beside the check that is left out and must be named. */
  readonly alsoNamed?: string;
};

/** A check that a model makes: carried as a criterion for a judge. */
type Judged = Check & {
  readonly carried: 'judge';
  readonly criterion: string;
  readonly negated?: true;
  readonly threshold?: number;
  readonly weight?: number;
  readonly mayBeLeftOut?: true;
  readonly alsoNamed?: string;
};

/** A check, or a whole test, that must be named as left out. */
type LeftOut = Place & { readonly assertion?: string; readonly carried: false; readonly why: string };

/** What the model is asked, one text for each prompt of the config. */
type Question = Place & { readonly asks: readonly string[]; readonly mayBeLeftOut?: true };

type PromptfooExpectation = Verdict | Judged | LeftOut | Question;

type EvalItem = {
  /** As text. Absent: any, but unlike the others. */
  readonly id?: string;
  readonly prompt: string;
  readonly expectedOutput?: string;
  readonly criteria?: readonly string[];
  readonly files?: readonly string[];
};

/** What must come out of a file of evals, or out of a trigger set. */
type EvalsExpectation = {
  readonly file: string;
  readonly note?: string;
  /** The file cannot be read as what it is; this is the reason to give. */
  readonly refused?: string;
  readonly skillName?: string;
  readonly items?: readonly EvalItem[];
  readonly triggers?: readonly { readonly query: string; readonly shouldTrigger: boolean }[];
  /** Paths that must be named as left out. */
  readonly named?: readonly string[];
  /** Paths that are carried or named, but never lost in silence. */
  readonly carriedOrNamed?: readonly string[];
};

const FOLDER = new URL('../../fixtures/imports/', import.meta.url);

export const promptfooExpectations = () => readLines<PromptfooExpectation>('promptfoo.jsonl');
export const evalsExpectations = () => readLines<EvalsExpectation>('evals.jsonl');

/** Where the configs lie, and the files that they refer to in `parts/`. */
export const importPath = (kind: 'promptfoo' | 'evals', file: string) =>
  fileURLToPath(new URL(`${kind}/${file}`, FOLDER));

/** Relative to the folder of their kind, without those in `parts/`. */
export function importFiles(kind: 'promptfoo' | 'evals'): readonly string[] {
  const names = readdirSync(importPath(kind, ''), { recursive: true, encoding: 'utf8' });
  const files = names.map((name) => name.replaceAll('\\', '/')).filter((name) => /\.(?:yaml|json)$/.test(name));
  return files.filter((name) => !name.startsWith('parts/')).sort();
}

function readLines<Line>(name: string): readonly Line[] {
  const lines = readFileSync(new URL(name, FOLDER), 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line));
}
