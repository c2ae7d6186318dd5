/** A task as a file holds it. */
export type Row<T = unknown> = {
  readonly value: T;
  /** File and line where the task begins, such as `tasks.jsonl:17`. */
  readonly where: string;
  /** The split that the file names for it, as it is written there. */
  readonly split?: string;
};
