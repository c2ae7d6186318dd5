import { SkillError } from '../core/contracts/index.ts';

/** The answer is given, and it is not a success. Ends a command when there is nothing more to say. */
export class Answered extends Error {
  readonly exitCode: 1 | 2 | 4 | 6;

  constructor(exitCode: 1 | 2 | 4 | 6 = 2) {
    super('answered');
    this.exitCode = exitCode;
  }
}

/** A run that has reached a limit, with what it came to until then. */
export class StoppedRun extends SkillError {
  override readonly name = 'StoppedRun';
  readonly run: object;

  constructor(error: SkillError, run: object) {
    super(error.code, error.message, { cause: error, ...(error.hint === undefined ? {} : { hint: error.hint }) });
    this.run = run;
  }
}
