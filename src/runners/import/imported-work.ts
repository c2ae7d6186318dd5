import type { LeftOut, Row } from '../../envs/index.ts';
import type { WorkspaceTaskInput } from '../workspace/workspace-task.ts';

/** Tasks for agents out of another tool's files. */
export type ImportedWork = {
  /** Whose files they are. */
  readonly format: 'evals' | 'promptfoo' | 'harbor' | 'dotnet';
  readonly rows: readonly Row<WorkspaceTaskInput>[];
  readonly leftOut: readonly LeftOut[];
};

/** Names that are used twice get a number, in the order of the file. */
export function withOwnIds(rows: readonly Row<WorkspaceTaskInput>[]): Row<WorkspaceTaskInput>[] {
  const counts = new Map<string, number>();
  return rows.map((row) => {
    const id = String(row.value.id);
    const count = (counts.get(id) ?? 0) + 1;
    counts.set(id, count);
    return count === 1 ? row : { ...row, value: { ...row.value, id: `${id} (${count})` } };
  });
}

export const unused = (where: string, what: string): LeftOut => ({ where, what, why: 'nothing here does it' });
