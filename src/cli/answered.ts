/** The answer is given, and it is not a success. Ends a command when there is nothing more to say. */
export class Answered extends Error {
  readonly exitCode = 2;

  constructor() {
    super('answered');
  }
}
