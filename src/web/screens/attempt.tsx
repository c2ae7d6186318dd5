export function AttemptScreen(_: Record<string, unknown>) {
  return <p className="note">Attempt</p>;
}
