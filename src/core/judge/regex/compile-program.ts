import type { CharacterSet } from './character-set.ts';
import { type Assertion, type PatternNode, parsePattern } from './parse-pattern.ts';
import { PatternError } from './pattern-error.ts';

/** One step of the machine. Targets are places in the program. */
type Instruction =
  | { readonly type: 'set'; readonly set: CharacterSet; readonly next: number }
  | { readonly type: 'assertion'; readonly assertion: Assertion; readonly isAscii: boolean; readonly next: number }
  | { readonly type: 'fork'; readonly targets: readonly number[] }
  | { readonly type: 'match' };

export type Program = {
  readonly instructions: readonly Instruction[];
  readonly start: number;
  /** Each set once; for every instruction that reads, which of them (else -1) and where it continues. */
  readonly sets: readonly CharacterSet[];
  readonly setOf: Int32Array;
  readonly next: Int32Array;
};

/** Longer ones were not written by a person, and reading them takes time too. */
const MAX_LENGTH = 10_000;
/** Repetitions are written out, so that a short pattern can become a long program. */
const MAX_INSTRUCTIONS = 4_000;

/** The pattern as a machine that can be in many places at once (Thompson's). Throws `PatternError`. */
export function compilePattern(pattern: string): Program {
  if (pattern.length > MAX_LENGTH) throw new PatternError(`it is longer than ${MAX_LENGTH}`, { isRefused: true });
  const tree = parsePattern(pattern);
  if (sizeOf(tree) > MAX_INSTRUCTIONS) throw tooLarge();
  const instructions: Instruction[] = [{ type: 'match' }];
  return { start: emit(tree, 0, instructions), instructions, ...tabulate(instructions) };
}

/** A set that is repeated is one set. */
function tabulate(instructions: readonly Instruction[]): Pick<Program, 'sets' | 'setOf' | 'next'> {
  const known = new Map<CharacterSet, number>();
  const [setOf, next] = [new Int32Array(instructions.length).fill(-1), new Int32Array(instructions.length)];
  for (const [index, instruction] of instructions.entries()) {
    if (instruction.type !== 'set') continue;
    if (!known.has(instruction.set)) known.set(instruction.set, known.size);
    setOf[index] = known.get(instruction.set)!;
    next[index] = instruction.next;
  }
  return { sets: [...known.keys()], setOf, next };
}

function tooLarge(): PatternError {
  const message = `its repetitions, written out, are more than ${MAX_INSTRUCTIONS} steps: use smaller numbers in {…}`;
  return new PatternError(message, { isRefused: true });
}

/** Before anything is written out: the numbers may be huge. */
function sizeOf(node: PatternNode): number {
  if (node.type === 'sequence') return node.parts.reduce((sum, part) => sum + sizeOf(part), 0);
  if (node.type === 'choice') return node.options.reduce((sum, option) => sum + sizeOf(option), 1);
  if (node.type !== 'repeat') return 1;
  const [copies, forks] = node.max === Number.POSITIVE_INFINITY ? [node.min + 1, 1] : [node.max, node.max - node.min];
  return copies * Math.max(1, sizeOf(node.body)) + forks;
}

/** Writes a node that continues at `next`, and says where it begins. From back to front, so that `next` is known. */
function emit(node: PatternNode, next: number, program: Instruction[]): number {
  if (node.type === 'sequence') return node.parts.reduceRight((after, part) => emit(part, after, program), next);
  if (node.type === 'choice') {
    const targets = node.options.map((option) => emit(option, next, program));
    return program.push({ type: 'fork', targets }) - 1;
  }
  if (node.type === 'repeat') return emitRepeat(node, next, program);
  return program.push({ ...node, next }) - 1;
}

function emitRepeat(
  { body, min, max }: Extract<PatternNode, { type: 'repeat' }>,
  next: number,
  program: Instruction[],
): number {
  let start = max === Number.POSITIVE_INFINITY ? emitLoop(body, next, program) : next;
  const optional = max === Number.POSITIVE_INFINITY ? 0 : max - min;
  for (let copy = 0; copy < optional; copy++) {
    start = program.push({ type: 'fork', targets: [emit(body, start, program), next] }) - 1;
  }
  for (let copy = 0; copy < min; copy++) start = emit(body, start, program);
  return start;
}

function emitLoop(body: PatternNode, next: number, program: Instruction[]): number {
  const targets = [next];
  const fork = program.push({ type: 'fork', targets }) - 1;
  targets.push(emit(body, fork, program));
  return fork;
}
