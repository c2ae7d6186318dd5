/** The answer is given, and it is not a success. Ends a command when there is nothing more to say. */
export class Answered extends Error {
  readonly exitCode: 1 | 2 | 4 | 6;

  constructor(exitCode: 1 | 2 | 4 | 6 = 2) {
    super('answered');
    this.exitCode = exitCode;
  }
}
