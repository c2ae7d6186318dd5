export function AttemptsScreen(_: Record<string, unknown>) {
  return <p className="note">Attempts</p>;
}
