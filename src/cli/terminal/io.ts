/** A stream that text is written to: the terminal, a pipe, or a list in a test. */
export type Output = {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  readonly rows?: number | undefined;
  write(text: string): unknown;
};

/** A stream through which nothing foreign commands the terminal: every text is made printable, and keeps our colours. */
export type SafeOutput = Output & {
  /** Writes codes of ours that move the cursor, then a text. */
  writeAfter(codes: string, text: string): unknown;
  /** Set while lines at the foot of the terminal are redrawn in place: all other text goes above them. */
  writeAbove?: ((text: string) => unknown) | undefined;
};

type Listener = () => void;

/** Everything the command line touches outside its files. `process` is one. */
export type Io = {
  /** Where a person may type, if there is one. */
  readonly stdin?: { readonly isTTY?: boolean | undefined } | undefined;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** How the process was started: Node, the file, its arguments. */
  readonly argv?: readonly string[] | undefined;
  cwd(): string;
  on(name: string, listener: Listener): unknown;
  off(name: string, listener: Listener): unknown;
  exit(code: number): void;
};

export type SafeIo = Io & { readonly stdout: SafeOutput; readonly stderr: SafeOutput };
