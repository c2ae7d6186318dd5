/** A folder that a command may change, as it is laid out on disk. */
export type WorkspaceView = {
  /** The folder itself; for an overlay, an empty folder that it is mounted on. */
  readonly path: string;
  /** Changes are kept in `upper`, and `lower` stays as it is. `scratch` is the file system's own. */
  readonly overlay?: { readonly lower: string; readonly upper: string; readonly scratch: string };
  /** Another name that a command sees it under, where the sandbox can give names: some tasks speak of `/app`. */
  readonly alsoAt?: string;
};

export type FileChange = {
  /** From the workspace. */
  readonly path: string;
  readonly change: 'added' | 'changed' | 'deleted';
  /** What changed, line by line, where it is text and not too long. */
  readonly patch?: string;
  /** What stands in for a patch: a hash and a size, or why there is none. */
  readonly note?: string;
};

/** What became of a workspace, by path. */
export type WorkspaceDiff = {
  readonly changes: readonly FileChange[];
  /** Folders that were not looked into, and what was too much to show. */
  readonly leftOut: readonly string[];
};
