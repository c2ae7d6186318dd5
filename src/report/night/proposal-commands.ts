import { shellWord } from '../../core/text/index.ts';

export type ProposalCommand = 'adopt' | 'review' | 'rollback';

type ProposalName = {
  readonly night: number;
  readonly document: { readonly kind: 'skill' | 'memory'; readonly name: string };
};

/** What to type in the project about this proposal and no other. */
export function commandOf({ night, document: { kind, name } }: ProposalName, command: ProposalCommand): string {
  return `${nightCommandOf(night, command)} ${kind === 'memory' ? '--memory' : `--skill ${shellWord(name)}`}`;
}

/**
 * What to type in the project about all that a night proposed. The number of the night is always said: another proposal may wait,
 * or come before this is typed.
 */
export function nightCommandOf(night: number, command: ProposalCommand): string {
  return `skillopt sleep ${command} --night ${night}`;
}
