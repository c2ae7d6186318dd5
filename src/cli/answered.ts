import type { ExitCode } from './exit-code.ts';

/** The answer is given, and it is not a success. Ends a command when there is nothing more to say. */
export class Answered extends Error {
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode) {
    super('answered');
    this.exitCode = exitCode;
  }
}
