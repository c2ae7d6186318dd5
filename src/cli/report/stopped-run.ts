import { SkillError } from '../../core/contracts/index.ts';

/** A run that has reached a limit, with what it came to until then. */
export class StoppedRun extends SkillError {
  override readonly name = 'StoppedRun';
  /** As `show --json` tells it. */
  readonly run: object;

  constructor(error: SkillError, run: object) {
    super(error.code, error.message, { cause: error, ...(error.hint === undefined ? {} : { hint: error.hint }) });
    this.run = run;
  }
}
