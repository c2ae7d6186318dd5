/** The answer is given, and it is not a success. Ends a command when there is nothing more to say. */
export class Answered extends Error {
  readonly exitCode: 1 | 2;

  constructor(exitCode: 1 | 2 = 2) {
    super('answered');
    this.exitCode = exitCode;
  }
}
